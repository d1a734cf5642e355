// Who leaves a plain cache.
#include <algorithm>
#include <cmath>

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

std::size_t PlainSubject::capacity() const {
  return std::size_t{contract_.budget} - contract_.sinks - contract_.recent;
}

bool PlainSubject::ranked() const {
  return options_.policy == PlainPolicy::h2o || options_.policy == PlainPolicy::h2o_by_age ||
         options_.policy == PlainPolicy::tova;
}

PlainRow* PlainSubject::find(PlainGroup& group, std::uint64_t position) {
  const auto found = std::ranges::find_if(group.rows, [position](const PlainRow& row) {
    return row.token.position == static_cast<std::int32_t>(position);
  });
  return found == group.rows.end() ? nullptr : &*found;
}

void PlainSubject::release(PlainGroup& group, std::uint64_t end) {
  if (options_.policy == PlainPolicy::keep_all) return;
  while (group.released < group.fed && group.released + contract_.recent < end) {
    const std::uint64_t position = group.released++;
    if (position < contract_.sinks) continue;
    ++group.entered;
    PlainRow* const row = find(group, position);
    if (row == nullptr) continue;
    if (capacity() == 0) row->gone = true;
    if (!ranked()) settle(group);
  }
  settle(group);
}

void PlainSubject::settle(PlainGroup& group) {
  while (capacity() > 0) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const PlainRow& row = group.rows[i];
      const auto position = static_cast<std::uint64_t>(row.token.position);
      const bool middle = position >= contract_.sinks && position < group.released;
      if (middle && !row.gone) candidates.push_back(i);
    }
    if (candidates.size() <= capacity()) return;
    group.rows[candidates[victim(group, candidates, capacity(), draws_of(group))]].gone = true;
  }
}

namespace {

// Of the candidates the one with the least score; among equals the oldest.
template <typename Score>
std::size_t least(const PlainGroup& group,
                  const std::vector<std::size_t>& candidates,
                  Score score) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (score(group.rows[candidates[i]]) < score(group.rows[candidates[worst]])) worst = i;
  }
  return worst;
}

// Li 1994: W falls by a k-th root of a uniform number, and then so many newcomers are refused.
void next_to_enter(PlainGroup& group,
                   std::uint64_t entered,
                   std::size_t k,
                   Position newcomer,
                   std::uint32_t index,
                   Draws& draws) {
  group.log_w += std::log(draws.uniform(newcomer, index)) / static_cast<double>(k);
  const double refused =
      std::floor(std::log(draws.uniform(newcomer, index + 1)) / std::log1p(-std::exp(group.log_w)));
  group.next = entered + 1 + static_cast<std::uint64_t>(std::min(refused, 1e15));
}

}  // namespace

std::size_t PlainSubject::victim(PlainGroup& group,
                                 const std::vector<std::size_t>& candidates,
                                 std::size_t k,
                                 Draws& draws) {
  const auto newcomer = static_cast<Position>(group.rows[candidates.back()].token.position);
  const std::size_t itself = candidates.size() - 1;
  switch (options_.policy) {
    case PlainPolicy::random:
      return draws.below(k, newcomer, 0);
    case PlainPolicy::reservoir_r:
      return draws.below(group.entered, newcomer, 0) < k ? draws.below(k, newcomer, 1) : itself;
    case PlainPolicy::reservoir_l: {
      if (group.next == 0) next_to_enter(group, k, k, newcomer, 0, draws);
      if (group.entered < group.next) return itself;
      const std::size_t replaced = draws.below(k, newcomer, 4);
      next_to_enter(group, group.entered, k, newcomer, 2, draws);
      return replaced;
    }
    case PlainPolicy::h2o:
      return least(group, candidates, [](const PlainRow& row) { return row.gathered; });
    case PlainPolicy::h2o_by_age:
      return least(group, candidates,
                   [](const PlainRow& row) { return row.gathered / row.queries; });
    case PlainPolicy::tova:
      return least(group, candidates, [](const PlainRow& row) { return row.last; });
    case PlainPolicy::keep_all:
    case PlainPolicy::streaming:
      break;
  }
  return 0;
}

}  // namespace kv::properties

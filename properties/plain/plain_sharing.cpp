#include "kvcheck/properties/plain/plain_sharing.h"

#include <algorithm>

namespace kv::properties {

void PlainSharing::feed_groups(const Feed& feed, Facts& facts) {
  const bool room_first = options_.timing == Timing::trim_then_attend;
  for (std::size_t first = 0; first < state_.groups.size(); first += sharers()) {
    const auto layer = std::span(state_.groups).subspan(first, sharers());
    for (PlainGroup& group : layer) make_room(group, feed.tokens.size());
    deal(layer);
    std::vector<std::vector<std::size_t>> returned;
    for (PlainGroup& group : layer) {
      if (room_first) free_rows(group);
      append(group, feed.tokens);
      returned.push_back(begin_attention(group, feed, facts));
    }
    for (std::size_t query = 0; query < feed.tokens.size(); ++query) {
      for (PlainGroup& group : layer) before_query(group, feed.tokens[query]);
      deal(layer);
      for (std::size_t i = 0; i < layer.size(); ++i) {
        attend(layer[i], feed, query, returned[i], facts);
      }
    }
    for (PlainGroup& group : layer) after_chunk(group);
    deal(layer);
    for (PlainGroup& group : layer) {
      if (!room_first) free_rows(group);
      report_state(group, facts);
    }
  }
}

std::size_t PlainSharing::sharers() const {
  return options_.unit == Unit::head ? setup_.query_heads() : setup_.kv_heads;
}

std::size_t PlainSharing::capacity() const {
  return std::size_t{contract_.mean_budget} - contract_.sinks - contract_.recent;
}

double PlainSharing::score(const PlainRow& row, std::size_t /*head*/) const {
  return options_.policy == PlainPolicy::tova ? static_cast<double>(row.last) : row.gathered;
}

std::vector<PlainSharing::Contender> PlainSharing::middle_of(PlainGroup& group,
                                                             std::size_t head) const {
  std::vector<Contender> middle;
  for (PlainRow& row : group.rows) {
    const auto position = static_cast<std::uint64_t>(row.token.position);
    if (row.gone || position < contract_.sinks || position >= group.released) continue;
    middle.push_back({score(row, head), position, head, &row});
  }
  std::ranges::stable_sort(middle, {}, &Contender::score);
  return middle;
}

std::size_t PlainSharing::surplus(std::span<PlainGroup> layer) {
  std::size_t held = 0;
  for (PlainGroup& group : layer) held += middle_of(group, 0).size();
  const std::size_t may = layer.size() * capacity();
  return held > may ? held - may : 0;
}

std::vector<PlainSharing::Contender> PlainSharing::contested(std::span<PlainGroup> layer) {
  std::vector<Contender> all;
  for (std::size_t head = 0; head < layer.size(); ++head) {
    const std::vector<Contender> middle = middle_of(layer[head], head);
    const std::size_t count = middle.size() - std::min(middle.size(), sure());
    all.insert(all.end(), middle.begin(), middle.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::ranges::sort(all, [](const Contender& a, const Contender& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.position != b.position ? a.position < b.position : a.head > b.head;
  });
  return all;
}

void PlainSharing::deal(std::span<PlainGroup> layer) {
  const std::size_t going = surplus(layer);
  if (going == 0) return;
  const std::vector<Contender> all = contested(layer);
  for (std::size_t i = 0; i < going; ++i) all[i].row->gone = true;
}

}  // namespace kv::properties

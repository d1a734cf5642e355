// What a tagged cache offers beside taking tokens in.
#include <utility>

#include "kvcheck/properties/tagged/tagged_cache.h"

namespace kv::properties {

// Keeps as many of the last calls as going back `rollback` tokens may need.
void TaggedCache::remember(const Feed& feed) {
  if (options_.rollback == 0) return;
  state_.past.push_back(
      {state_.units, state_.fed, {feed.tokens.begin(), feed.tokens.end()}, feed.stream});
  if (options_.rollback == any_depth) return;
  const std::uint64_t fed = state_.fed + feed.tokens.size();
  while (state_.past.size() > 1 && state_.past[1].fed + options_.rollback <= fed) {
    state_.past.erase(state_.past.begin());
  }
}

Answer<Done> TaggedCache::truncate(std::int64_t length) {
  if (length < 0 || length > static_cast<std::int64_t>(state_.fed)) {
    return Refused{std::to_string(length) + " tokens were never fed"};
  }
  const auto requested = static_cast<std::uint64_t>(length);
  if (requested == state_.fed) return Done{};
  if (state_.past.empty() || state_.past.front().fed > requested) {
    return Refused{"it cannot go back so far"};
  }
  roll_back(requested);
  return Done{};
}

// To where the call began that fed token `length`, and on from there with the part of its chunk
// that counts.
void TaggedCache::roll_back(std::uint64_t length) {
  while (state_.past.back().fed > length) state_.past.pop_back();
  const PastCall past = std::move(state_.past.back());
  state_.past.pop_back();
  state_.units = past.units;
  state_.fed = past.fed;
  const std::span<const Token> tokens(past.tokens);
  (void)feed({tokens.first(length - past.fed), past.stream});
}

Answer<Done> TaggedCache::reset() {
  state_ = {};
  state_.units.resize(heads_.count() / heads_.sharing());
  return Done{};
}

Answer<std::unique_ptr<Subject>> TaggedCache::fork() {
  std::unique_ptr<TaggedCache> copy = fresh_();
  copy->state_ = state_;
  return std::unique_ptr<Subject>(std::move(copy));
}

Answer<Done> TaggedCache::reorder(std::span<const std::uint32_t> from) {
  if (from.size() != setup_.sequences) return Refused{"one source for each sequence, please"};
  for (const std::uint32_t sequence : from) {
    if (sequence >= setup_.sequences) return Refused{"there is no such sequence"};
  }
  const std::vector<CacheUnit> before = state_.units;
  const std::size_t units = before.size() / setup_.sequences;
  for (std::size_t i = 0; i < before.size(); ++i) {
    state_.units[i] = before[from[i / units] * units + i % units];
  }
  state_.past.clear();
  return Done{};
}

// What is fed after a shift stands at its place in the stream again, and nothing can be taken back
// beyond a shift. Requires absolute positions.
Answer<Done> TaggedCache::shift(std::int64_t begin, std::int64_t delta) {
  if (!options_.shifts) return Refused{"shift is not offered"};
  for (const CacheUnit& unit : state_.units) {
    for (const StoredRow& row : unit.rows) {
      const bool moves = row.token.position >= begin;
      if (delta > 0 ||
          (moves && row.position + static_cast<double>(delta) < static_cast<double>(begin))) {
        return Refused{"rows would come to lie on others"};
      }
    }
  }
  state_.past.clear();
  for (CacheUnit& unit : state_.units) shift_rows(unit, begin, static_cast<double>(delta));
  return Done{};
}

void TaggedCache::shift_rows(CacheUnit& unit, std::int64_t begin, double delta) {
  for (StoredRow& row : unit.rows) {
    if (row.token.position >= begin) rotate(row, delta);
  }
}

Answer<Done> TaggedCache::restore(std::span<const std::uint8_t> bytes) {
  if (!load_state(bytes, heads_.sharing(), state_)) return Refused{"these bytes are no snapshot"};
  return Done{};
}

}  // namespace kv::properties

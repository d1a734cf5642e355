// What a plain cache offers beside taking tokens in.
#include <utility>

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

// Keeps as many of the last calls as going back `rollback` tokens may need.
void PlainSubject::remember(const Feed& feed) {
  if (options_.rollback == 0) return;
  state_.past.push_back(
      {state_.groups, state_.fed, {feed.tokens.begin(), feed.tokens.end()}, feed.stream});
  if (options_.rollback == any_depth) return;
  const std::uint64_t fed = state_.fed + feed.tokens.size();
  while (state_.past.size() > 1 && state_.past[1].fed + options_.rollback <= fed) {
    state_.past.erase(state_.past.begin());
  }
}

Answer<Done> PlainSubject::truncate(std::int64_t length) {
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
void PlainSubject::roll_back(std::uint64_t length) {
  while (state_.past.back().fed > length) state_.past.pop_back();
  const PlainPast past = std::move(state_.past.back());
  state_.past.pop_back();
  state_.groups = past.groups;
  state_.fed = past.fed;
  const std::span<const Token> tokens(past.tokens);
  (void)feed({tokens.first(length - past.fed), past.stream});
}

Answer<Done> PlainSubject::reset() {
  state_ = {};
  state_.groups.resize(units() / shared());
  return Done{};
}

Answer<std::unique_ptr<Subject>> PlainSubject::fork() {
  std::unique_ptr<PlainSubject> copy = re_evaluation_();
  copy->state_ = state_;
  return std::unique_ptr<Subject>(std::move(copy));
}

Answer<Done> PlainSubject::reorder(std::span<const std::uint32_t> from) {
  if (from.size() != setup_.sequences) return Refused{"one source for each sequence, please"};
  for (const std::uint32_t sequence : from) {
    if (sequence >= setup_.sequences) return Refused{"there is no such sequence"};
  }
  const std::vector<PlainGroup> before = state_.groups;
  const std::size_t groups = before.size() / setup_.sequences;
  for (std::size_t i = 0; i < before.size(); ++i) {
    state_.groups[i] = before[from[i / groups] * groups + i % groups];
  }
  state_.past.clear();
  return Done{};
}

Answer<std::vector<std::uint8_t>> PlainSubject::snapshot() {
  return save_plain(state_);
}

Answer<Done> PlainSubject::restore(std::span<const std::uint8_t> bytes) {
  if (!load_plain(bytes, shared(), state_)) return Refused{"these bytes are no snapshot"};
  return Done{};
}

}  // namespace kv::properties

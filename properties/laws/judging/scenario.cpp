#include "kvcheck/properties/laws/judging/scenario.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kv::properties {

Result<Cut> cut_at(const Case& what, Call::Kind kind) {
  const auto at = std::ranges::find_if(
      what.calls, [kind](const Call& call) { return call.kind == kind && call.branch == 0; });
  if (at == what.calls.end()) return malformed("no case makes such a call");
  Cut cut{{what.calls.begin(), at}, *at, feeds_among({at + 1, what.calls.end()})};
  if (cut.tail.empty()) cut.tail.push_back(feed_call(1));
  return cut;
}

std::vector<Call> feeds_among(const std::vector<Call>& calls) {
  std::vector<Call> feeds;
  for (const Call& call : calls) {
    if (call.kind == Call::Kind::feed) feeds.push_back(feed_call(call.amount));
  }
  return feeds;
}

std::vector<Call> feeds_of(const Case& what) {
  return feeds_of(what, 0, {});
}

std::vector<Call> feeds_of(const Case& what, std::uint64_t tokens, const Contract& contract) {
  std::vector<Call> feeds = feeds_among(what.calls);
  std::uint64_t sum = what.tokens();
  // Without tokens there is nothing to judge, and no feed that could be repeated.
  if (sum == 0) {
    feeds.push_back(feed_call(1));
    sum = 1;
  }
  const std::size_t once = feeds.size();  // the case's own feeds, repeated in turn
  for (std::size_t i = 0; sum < tokens; ++i) {
    feeds.push_back(feeds[i % once]);
    if (contract.longest_chunk > 0) {  // the first may have been longer
      std::int64_t& amount = feeds.back().amount;
      amount = std::min<std::int64_t>(amount, contract.longest_chunk);
    }
    sum += static_cast<std::uint64_t>(feeds.back().amount);
  }
  return feeds;
}

Case evicting(const Case& what, std::uint64_t tokens, const Contract& contract) {
  if (!contract.grows()) return one_by_one(what.setup, what.stream, tokens);
  const std::uint32_t longest = contract.longest_after(0);
  const std::uint64_t prompt = longest == 0 ? tokens : std::min<std::uint64_t>(tokens, longest);
  return feeding(what.setup, what.stream, {static_cast<std::uint32_t>(prompt), 1, 1});
}

Call feed_call(std::int64_t tokens, std::int32_t variant, std::uint32_t branch) {
  return {.kind = Call::Kind::feed, .branch = branch, .amount = tokens, .variant = variant};
}

Case with_calls(const Case& what, std::vector<Call> calls) {
  return {what.setup, what.stream, std::move(calls)};
}

namespace {

// What differs between two refusals; nothing between two calls that were done.
std::optional<Difference> refusal_difference(const Event& expected, const Event& seen) {
  if (expected.refused == seen.refused) return std::nullopt;
  return Difference{expected.refused ? "the call is refused" : "the call is done",
                    seen.refused ? "it is refused: " + seen.why : "it is done", 0};
}

// The next event of the side's branch from `at` on; null: there is none.
const Event* next_event(const Side& side, std::size_t& at) {
  const auto& events = side.history.events;
  while (at < events.size() && events[at].call.branch != side.branch) ++at;
  return at < events.size() ? &events[at] : nullptr;
}

}  // namespace

std::optional<Finding> disagreement(const Side& expected,
                                    const Side& seen,
                                    const Compare& compare,
                                    std::string_view as,
                                    const std::function<bool(std::size_t unit)>& which) {
  std::size_t i = expected.first;
  std::size_t j = seen.first;
  for (;; ++i, ++j) {
    const Event* const a = next_event(expected, i);
    const Event* const b = next_event(seen, j);
    // A call on a branch that does not exist leaves no event, so one run may have fewer.
    if (a == nullptr || b == nullptr) return std::nullopt;
    if (const auto found = refusal_difference(*a, *b)) {
      // Two runs that refuse differently go different ways; only of feeds is that a fault.
      if (a->call.kind != Call::Kind::feed) return std::nullopt;
      return finding_in(seen.history, j, 0, *found, as);
    }
    const std::size_t units = std::min(a->facts.units.size(), b->facts.units.size());
    for (std::size_t unit = 0; unit < units; ++unit) {
      if (which && !which(unit)) continue;
      const std::size_t queries = is_feed(expected.history, *a) ? a->fed.size() : 0;
      const auto found = difference(a->facts.units[unit], b->facts.units[unit], queries, compare);
      if (found) return finding_in(seen.history, j, unit, *found, as);
    }
  }
}

std::optional<Finding> disagreement_of_all(const History& expected,
                                           const History& seen,
                                           const Compare& compare,
                                           std::string_view as) {
  // Generated cases fork a few times at most, and of a branch that does not exist nothing differs.
  for (std::uint32_t branch = 0; branch < 8; ++branch) {
    auto found = disagreement({expected, 0, branch}, {seen, 0, branch}, compare, as);
    if (found) return found;
  }
  return std::nullopt;
}

Judgement unless_rounding(const Case& what, const std::function<Judgement(const Case&)>& relation) {
  constexpr std::uint32_t others = 12;
  Judgement first = relation(what);
  if (!std::holds_alternative<Finding>(first)) return first;
  int broken = 0;
  for (std::uint32_t i = 1; i <= others && broken < 2; ++i) {
    Case other = what;
    other.stream.seed += 7919 * i;  // a prime, so that streams of neighbouring cases do not meet
    broken += std::holds_alternative<Finding>(relation(other)) ? 1 : 0;
  }
  if (broken < 2) return NotTested{"two scores differ by a rounding"};
  return first;
}

Partitions partitions_of(const Case& what, const Contract& contract) {
  // No case feeds so many tokens that a chunk without a limit would be longer than this.
  const auto append = [&contract](std::uint64_t tokens, std::vector<std::uint32_t>& chunks) {
    for (; tokens > 0; tokens -= chunks.back()) {
      const std::uint32_t longest = contract.longest_after(chunks.size());  // no chunk is empty
      const std::uint64_t most = longest == 0 ? 1U << 20U : longest;
      chunks.push_back(static_cast<std::uint32_t>(std::min(tokens, most)));
    }
  };
  Partitions cut;
  for (const Call& call : feeds_among(what.calls)) {
    if (call.amount > 0) append(static_cast<std::uint64_t>(call.amount), cut.given);
  }
  cut.tokens = std::accumulate(cut.given.begin(), cut.given.end(), std::uint64_t{0});
  append(cut.tokens, cut.whole);
  return cut;
}

}  // namespace kv::properties

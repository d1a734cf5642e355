// The laws on reorder and shift: what moves, and what does not.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

// From the given feed on, attention treats all payers alike.
class TiesFrom final : public Alteration {
 public:
  explicit TiesFrom(std::size_t feed) : left_(feed) {}

  Answer<Facts> feed(Subject& subject, const Feed& feed) override {
    if (left_ > 0) {
      --left_;
      return subject.feed(feed);
    }
    const Stream ties{.kind = StreamKind::ties};
    return subject.feed({feed.tokens, ties, feed.report_weights});
  }

 private:
  std::size_t left_;
};

// Compares sequence i of one event with sequence from[i] of another.
std::optional<Finding> became(const History& before,
                              std::size_t then,
                              const History& after,
                              std::size_t now,
                              const std::vector<std::uint32_t>& from,
                              const Compare& compare) {
  const std::size_t each = before.units() / before.what.setup.sequences;
  const auto& old = before.events[then].facts.units;
  const auto& fresh = after.events[now].facts.units;
  if (old.size() != before.units() || fresh.size() != before.units()) return std::nullopt;
  const bool fed = is_feed(after, after.events[now]);
  for (std::size_t unit = 0; unit < fresh.size(); ++unit) {
    const std::size_t sequence = unit / each;
    const std::size_t source = from[sequence] * each + unit % each;
    const auto found =
        difference(old[source], fresh[unit], fed ? after.events[now].fed.size() : 0, compare);
    if (!found) continue;
    return finding_in(after, now, unit, *found,
                      phrase("sequence ", sequence, " is what sequence ", from[sequence], " was"));
  }
  return std::nullopt;
}

// How far what follows the sinks can move towards them; 0 where a position was not reported.
std::int64_t gap_behind_sinks(const std::vector<UnitFacts>& units, const Contract& contract) {
  std::int64_t gap = std::numeric_limits<std::int64_t>::max();
  for (const UnitFacts& unit : units) {
    for (const Row& row : unit.stored) {
      if (std::isnan(row.position)) return 0;
      if (row.key.position < static_cast<std::int32_t>(contract.sinks)) continue;
      gap = std::min(gap, static_cast<std::int64_t>(row.position) - std::int64_t{contract.sinks});
    }
  }
  return gap == std::numeric_limits<std::int64_t>::max() ? 0 : gap;
}

}  // namespace

Judgement reorder_moves_sequences(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::reorder);
  if (!cut) return untested(cut.error());
  const std::uint32_t sequences = trial.what().setup.sequences;
  const auto& from = cut->at.from;
  const auto known = [&](std::uint32_t sequence) { return sequence < sequences; };
  if (sequences < 2 || from.size() != sequences || !std::ranges::all_of(from, known)) {
    return NotTested{"the case does not name a sequence for each of several"};
  }
  std::vector<Call> head = feeds_among(cut->head);
  if (head.empty()) head.push_back(feed_call(1));
  std::vector<Call> calls = head;
  calls.insert(calls.end(), cut->tail.begin(), cut->tail.end());
  const auto alike = altered(trial.family(),
                             [&](const Setup&) { return std::make_unique<TiesFrom>(head.size()); });
  const auto plain = trial.run_on(*alike, with_calls(trial.what(), calls));
  if (!plain) return untested(plain.error());
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(head.size()), cut->at);
  // Altered runs have no coverage; this one shows what the case went through.
  (void)trial.run(with_calls(trial.what(), calls));
  const auto moved = trial.run_on(*alike, with_calls(trial.what(), calls));
  if (!moved) return untested(moved.error());
  if (moved->events[head.size()].refused) return NotTested{"reorder is refused", true};
  const Compare compare = comparing(contract, trial.family());
  auto found = became(*plain, head.size() - 1, *moved, head.size(), from, compare);
  // Whether a sequence takes its draws along is left open, so a random subject is compared only at
  // the reorder itself.
  const std::size_t last = contract.random ? 0 : cut->tail.size();
  for (std::size_t i = 0; i < last && !found; ++i) {
    found = became(*plain, head.size() + i, *moved, head.size() + 1 + i, from, compare);
  }
  return held(found);
}

Judgement hostile_reorders(Trial& trial, const Contract& contract) {
  const std::uint32_t sequences = trial.what().setup.sequences;
  KV_CHECK(sequences > 0);
  std::vector<std::uint32_t> same(sequences);
  std::iota(same.begin(), same.end(), 0U);
  std::vector<std::uint32_t> beyond = same, enormous = same, longer = same, shorter = same;
  beyond.back() = sequences;
  enormous.front() = std::numeric_limits<std::uint32_t>::max();
  longer.push_back(0);
  shorter.pop_back();
  const std::vector<Call> feeds = feeds_of(trial.what());
  const std::size_t at = (feeds.size() + 1) / 2;
  const auto plain = trial.run(with_calls(trial.what(), feeds));
  if (!plain) return untested(plain.error());
  for (const auto& from : {beyond, enormous, longer, shorter}) {
    std::vector<Call> calls = feeds;
    calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(at),
                 {.kind = Call::Kind::reorder, .from = from});
    const auto history = trial.run(with_calls(trial.what(), calls));
    if (!history) return untested(history.error());
    if (!history->events[at].refused) {
      std::string asked;
      for (const std::uint32_t sequence : from) asked += " " + std::to_string(sequence);
      return finding_in(*history, at, 0,
                        {phrase("a reorder from", asked.empty() ? " nothing" : asked,
                                " is refused: the sequences are 0 to ", sequences - 1,
                                ", and each is to be given one"),
                         "it is done"});
    }
    const auto found =
        disagreement({*plain, at}, {*history, at + 1}, comparing(contract, trial.family()),
                     "as if reorder had not been called");
    if (found) return *found;
  }
  return std::monostate{};
}

namespace {

// A shift within the gap behind the sinks may be refused only if shifts are not declared.
Judgement refused_shift(const History& history, const Call& shift, const Contract& contract) {
  const auto& before = history.events[history.events.size() - 2].facts.units;
  const std::int64_t gap = gap_behind_sinks(before, contract);
  if (!contract.shifts || shift.amount < 1 || shift.amount > gap) {
    return NotTested{"shift is refused", !contract.shifts};
  }
  return finding_in(
      history, history.events.size() - 1, 0,
      {phrase("a shift by ", -shift.amount,
              " is done: shifts is declared, and the gap behind the sinks is ", gap, " wide"),
       "it is refused: " + history.events.back().why});
}

}  // namespace

Judgement shift_moves_rows(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::shift);
  if (!cut) return untested(cut.error());
  std::vector<Call> calls = feeds_among(cut->head);
  // Without tokens a shift would have nothing to move.
  if (calls.empty()) calls = cut->tail;
  calls.push_back(cut->at);
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  const Event& event = history->events.back();
  const auto& before = history->events[history->events.size() - 2].facts.units;
  if (event.refused) return refused_shift(*history, cut->at, contract);
  const bool moves = contract.positions != PositionMode::in_cache;
  const auto sinks = static_cast<std::int32_t>(trial.what().setup.sinks);
  for (std::size_t unit = 0; unit < std::min(before.size(), event.facts.units.size()); ++unit) {
    const auto accuse = [&](std::string expected, std::string seen) {
      return finding_in(*history, history->events.size() - 1, unit,
                        {std::move(expected), std::move(seen)});
    };
    const std::vector<Row>& old = before[unit].stored;
    const std::vector<Row>& now = event.facts.units[unit].stored;
    if (row_tokens(old) != row_tokens(now)) {
      return accuse("a shift moves no rows: it stores " + words_of(row_tokens(old)),
                    "it stores " + words_of(row_tokens(now)));
    }
    for (std::size_t row = 0; row < old.size() && moves; ++row) {
      const double by = old[row].key.position < sinks ? 0 : static_cast<double>(-cut->at.amount);
      const double expected = old[row].position + by;
      if (std::isnan(expected) || std::isnan(now[row].position)) continue;
      if (std::abs(expected - now[row].position) <= position_slack) continue;
      return accuse(phrase("token ", old[row].key, " moves from position ", old[row].position,
                           " to ", expected),
                    phrase("it is at position ", now[row].position));
    }
  }
  return std::monostate{};
}

}  // namespace kv::properties

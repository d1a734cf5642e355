#include "kvcheck/properties/laws/relations/relations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/scenario.h"

namespace kv::properties {
namespace {

// Where one of the two was not reported there is nothing to compare.
bool differs(double a, double b) {
  return !std::isnan(a) && !std::isnan(b) && std::abs(a - b) > position_slack;
}

// A sink that is reported at another position than its own.
std::optional<Difference> sink_moved(const Row& row, bool& tested) {
  if (std::isnan(row.position)) return std::nullopt;
  tested = true;
  if (!differs(row.position, row.key.position)) return std::nullopt;
  return Difference{phrase("sink ", row.key, " is still at position ", row.key.position),
                    phrase("it is at position ", row.position), 0};
}

// The errors of sinks' keys as they were first reported, by branch, unit, token, origin and
// precision.
using SinkErrors =
    std::map<std::tuple<std::uint32_t, std::size_t, Token, std::uint32_t, bool>, double>;

// How wrong the sink was at first, if it is more so now. Precision alone makes some error, so only
// a growing one shows that a key was rotated again.
std::optional<double> grown(const UnitAt& at, const Row& row, SinkErrors& errors) {
  if (std::isnan(row.key_error)) return std::nullopt;
  const auto [first, fresh] = errors.try_emplace(
      {at.event.call.branch, at.unit, row.key, row.key_place.sequence, row.full_precision},
      row.key_error);
  if (fresh || row.key_error <= first->second + 1e-6 + 1e-3 * first->second) return std::nullopt;
  return first->second;
}

}  // namespace

Judgement positions_after_rollback(Trial& trial, const Contract& contract) {
  const auto rollback = rollback_of(trial.what());
  if (!rollback) return untested(rollback.error());
  const auto history = trial.run(with_calls(trial.what(), rollback->with));
  if (!history) return untested(history.error());
  if (history->events[rollback->at].refused)
    return NotTested{"truncate is refused", contract.rollback == 0};
  return in_run(*history,
                glance_at_all(*history, contract, check_distances,
                              [](const Glance& glance) { return glance.line.rolled_back; }));
}

Judgement same_everywhere(const History& history, const Contract& contract) {
  if (history.units() < 2) return NotTested{"there is one unit only", true};
  std::optional<Finding> finding;
  bool tested = false;
  // Query by query and not unit by unit: the first query that stands apart is the one to report.
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    if (finding || !is_feed(history, event) || !line.shifts.empty()) return;
    for (std::size_t query = 0; query < event.fed.size(); ++query) {
      // By the number of rows that the query sees, which positions in the cache depend on.
      std::map<std::size_t, std::pair<std::size_t, double>> first;
      for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
        const UnitFacts& facts = event.facts.units[unit];
        const double at = query_position(facts, query);
        if (std::isnan(at) || !has_mask(facts, event.fed.size())) continue;
        tested = true;
        const bool absolute = contract.positions == PositionMode::absolute;
        const std::size_t seen = absolute ? 0 : seen_by(facts, query).size();
        const auto [found, fresh] = first.try_emplace(seen, unit, at);
        const auto [other, expected] = found->second;
        if (fresh || finding || !differs(at, expected)) continue;
        finding = finding_at({phrase("query ", event.fed[query], " is at position ", expected,
                                     ", as in unit ", other),
                              phrase("in unit ", unit, " it is at position ", at), query},
                             index, unit);
      }
    }
  });
  return unless_silent(held(finding), tested, {"no position was reported", true});
}

Judgement begins_at_zero(Trial& trial, const Contract&) {
  const auto cut = cut_at(trial.what(), Call::Kind::reset);
  if (!cut) return untested(cut.error());
  std::vector<Call> calls = cut->head;
  calls.push_back(cut->at);
  calls.insert(calls.end(), cut->tail.begin(), cut->tail.end());
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  const auto check = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    const bool first = at.event.branch.size() == at.event.fed.size();
    if (!at.line.begun_anew || !first || !is_feed(*history, at.event)) return {};
    const double position = query_position(at.facts, 0);
    tested |= !std::isnan(position);
    if (!differs(position, 0)) return {};
    return Difference{"the first query after the reset is at position 0",
                      phrase("it is at position ", position), 0};
  };
  return in_run(
      *history,
      check_units(*history, {"reset is refused, or no position was reported", true}, check));
}

Judgement sinks_untouched(const History& history, const Contract& contract) {
  const std::uint32_t sinks = std::min(contract.sinks, history.what.setup.sinks);
  if (sinks == 0) return NotTested{"there are no sinks", contract.sinks == 0};
  SinkErrors errors;
  const auto check = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    // What is fed after a reset is stored anew, and so are the sinks.
    if (at.unit == 0 && at.event.call.kind == Call::Kind::reset) errors.clear();
    for (const Row& row : at.facts.stored) {
      if (row.key.position < 0 || static_cast<std::uint32_t>(row.key.position) >= sinks) continue;
      if (auto moved = sink_moved(row, tested)) return moved;
      const std::optional<double> first = grown(at, row, errors);
      if (!first) continue;
      return Difference{
          phrase("sink ", row.key, "'s key does not change once it is stored, wrong by ", *first),
          phrase("it is wrong by ", row.key_error), 0};
    }
    return {};
  };
  return check_units(history, {"no position of a sink was reported", true}, check);
}

Judgement shift_composes(Trial& trial, const Contract& contract) {
  const auto cut = cut_at(trial.what(), Call::Kind::shift);
  if (!cut) return untested(cut.error());
  const std::int64_t whole =
      std::abs(cut->at.amount) < 2 ? 2 : cut->at.amount;  // *cut in two below
  const auto shifting = [&](const std::vector<std::int64_t>& amounts) {
    std::vector<Call> calls = cut->head;
    for (const std::int64_t amount : amounts) {
      calls.push_back({.kind = Call::Kind::shift, .amount = amount});
    }
    calls.insert(calls.end(), cut->tail.begin(), cut->tail.end());
    return trial.run(with_calls(trial.what(), calls));
  };
  const auto once = shifting({whole});
  if (!once) return untested(once.error());
  const auto twice = shifting({whole / 2, whole - whole / 2});
  if (!twice) return untested(twice.error());
  const std::size_t at = cut->head.size();
  if (once->events.size() != at + 1 + cut->tail.size() ||
      twice->events.size() != once->events.size() + 1) {
    return NotTested{"a branch of the case does not exist"};
  }
  if (once->events[at].refused || twice->events[at].refused || twice->events[at + 1].refused) {
    return NotTested{"shift is refused", !contract.shifts};
  }
  Compare compare = comparing(contract, trial.family());
  compare.position_slack = position_slack;
  const auto found = disagreement({*once, at}, {*twice, at + 1}, compare,
                                  phrase("as after one shift by ", -whole));
  if (found) return *found;
  const auto reported = [](const Row& row) { return !std::isnan(row.position); };
  if (!any_stored(*once, reported)) return NotTested{"no position was reported", true};
  return std::monostate{};
}

Judgement keeps_norm(const History& history, const Contract& contract) {
  const bool shifted = contract.positions == PositionMode::shifted;
  const bool moved_always = contract.shifts || shifted;
  const bool reported =
      any_stored(history, [](const Row& row) { return !std::isnan(row.key_error); });
  const NotTested silent = moved_always && !reported
                               ? NotTested{"the subject tells no keys as vectors", true}
                               : NotTested{"no key is ever rotated again", !moved_always};
  return check_rows(
      history, silent, [&](const RowAt& at, bool& tested) -> std::optional<Difference> {
        const Row& row = at.row;
        const std::size_t shifts = at.line.shifts.size();
        if (!at.is_stored || (shifts == 0 && !shifted)) return {};
        if (row.key.position < 0 || std::isnan(row.key_error)) return {};
        tested = true;
        const auto position = static_cast<std::size_t>(row.key.position);
        const std::size_t fed = at.event.branch.size();
        // Where gaps are closed, each token fed since may have rotated the key once.
        const std::size_t since = shifted ? fed - std::min(fed, position) : 0;
        const std::size_t rotations = 1 + shifts + since;
        const double most = most_key_error(contract, row, rotations);
        if (row.key_error <= most) return {};
        return Difference{phrase("the key of token ", row.key, ", rotated at most ", rotations,
                                 " times, is wrong by no more than ", most, " of its length"),
                          phrase("it is wrong by ", row.key_error), 0};
      });
}

}  // namespace kv::properties

#include "kvcheck/properties/laws/relations/position_relations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/relations/operation_cases.h"

namespace kv::properties {
namespace {

bool differs(double a, double b) {
  return !std::isnan(a) && !std::isnan(b) && std::abs(a - b) > position_slack;
}

// Notes in a finding that it is of this run, which is not the case's own.
Judgement in_run(Judgement judgement, const History& history) {
  if (auto* finding = std::get_if<Finding>(&judgement)) finding->history = history;
  return judgement;
}

// A sink that is reported at another position than its own.
std::optional<Difference> sink_moved(const Row& row, const std::string& label, Verdicts& verdicts) {
  if (std::isnan(row.position)) return std::nullopt;
  verdicts.tested();
  if (!differs(row.position, row.key.position)) return std::nullopt;
  return Difference{label + " stays at position " + std::to_string(row.key.position),
                    "it is at position " + to_text(row.position), 0};
}

// The errors of sinks' keys as they were first reported. Precision alone makes some error, so only
// a growing one shows that a key was rotated again.
class SinkErrors {
 public:
  void forget() { errors_.clear(); }

  // How wrong the sink was at first, if it is more so now.
  std::optional<double> grown(const Event& event, std::size_t unit, const Row& row) {
    if (std::isnan(row.key_error)) return std::nullopt;
    const Key key{event.call.branch, unit, row.key, row.key_place.sequence, row.full_precision};
    const auto [first, fresh] = errors_.try_emplace(key, row.key_error);
    if (fresh || row.key_error <= first->second + 1e-6 + 1e-3 * first->second) return std::nullopt;
    return first->second;
  }

 private:
  // Branch, unit, token, origin and precision.
  using Key = std::tuple<std::uint32_t, std::size_t, Token, std::uint32_t, bool>;

  std::map<Key, double> errors_;
};

}  // namespace

Judgement positions_after_rollback(Trial& trial, const Contract& contract) {
  const auto rollback = rollback_of(trial.what());
  if (!rollback) return untested(rollback.error());
  const auto history = trial.run(with_calls(trial.what(), rollback->with));
  if (!history) return untested(history.error());
  if (history->events[rollback->at].refused)
    return NotTested{"truncate is refused", contract.rollback == 0};
  return in_run(glance_at_all(*history, contract, check_distances,
                              [](const Glance& glance) { return glance.line.rolled_back; }),
                *history);
}

Judgement same_everywhere(const History& history, const Contract& contract) {
  if (history.units() < 2) return NotTested{"there is one unit only", true};
  Verdicts verdicts({"no position was told"});
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    if (verdicts.found() || !is_feed(history, event) || !line.shifts.empty()) return;
    for (std::size_t query = 0; query < event.fed.size(); ++query) {
      // By the number of rows that the query sees, which positions in the cache depend on.
      std::map<std::size_t, std::pair<std::size_t, double>> first;
      for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
        const UnitFacts& facts = event.facts.units[unit];
        const double at = query_position(facts, query);
        if (std::isnan(at) || !has_mask(facts, event.fed.size())) continue;
        verdicts.tested();
        const bool absolute = contract.positions == PositionMode::absolute;
        const std::size_t seen = absolute ? 0 : seen_by(facts, query).size();
        const auto [found, fresh] = first.try_emplace(seen, unit, at);
        if (fresh || !differs(at, found->second.second)) continue;
        const Difference difference{
            "query " + to_text(event.fed[query]) + " is at position " +
                to_text(found->second.second) + ", as in unit " +
                std::to_string(found->second.first),
            "in unit " + std::to_string(unit) + " it is at position " + to_text(at), query};
        verdicts.accuse(finding_at(difference, index, unit));
      }
    }
  });
  return verdicts.judgement();
}

Judgement begins_at_zero(Trial& trial, const Contract&) {
  const auto cut = cut_at(trial.what(), Call::Kind::reset);
  if (!cut) return untested(cut.error());
  std::vector<Call> calls = cut->head;
  calls.push_back(cut->at);
  calls.insert(calls.end(), cut->tail.begin(), cut->tail.end());
  const auto history = trial.run(with_calls(trial.what(), calls));
  if (!history) return untested(history.error());
  Verdicts verdicts({"reset is refused, or no position was told"});
  walk(*history, [&](const Event& event, std::size_t index, const Lineage& line) {
    const bool first = event.branch.size() == event.fed.size();
    if (!line.begun_anew || !first || !is_feed(*history, event)) return;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      const double at = query_position(event.facts.units[unit], 0);
      if (std::isnan(at)) continue;
      verdicts.tested();
      if (!differs(at, 0)) continue;
      verdicts.accuse(finding_at({"the first query after the reset is at position 0",
                                  "it is at position " + to_text(at), 0},
                                 index, unit));
    }
  });
  return in_run(verdicts.judgement(), *history);
}

Judgement sinks_untouched(const History& history, const Contract& contract) {
  const std::uint32_t sinks = std::min(contract.sinks, history.what.setup.sinks);
  if (sinks == 0) return NotTested{"there are no sinks", contract.sinks == 0};
  Verdicts verdicts({"no position of a sink was told"});
  SinkErrors errors;
  walk(history, [&](const Event& event, std::size_t index, const Lineage&) {
    if (event.call.kind == Call::Kind::reset) errors.forget();
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      for (const Row& row : event.facts.units[unit].stored) {
        const auto position = row.key.position;
        if (position < 0 || static_cast<std::uint32_t>(position) >= sinks) continue;
        const std::string label = "sink " + to_text(row.key);
        if (const auto moved = sink_moved(row, label, verdicts)) {
          verdicts.accuse(finding_at(*moved, index, unit));
        }
        const std::optional<double> first = errors.grown(event, unit, row);
        if (!first) continue;
        verdicts.accuse(
            finding_at({label + "'s key stays as it was stored, wrong by " + to_text(*first),
                        "it is wrong by " + to_text(row.key_error), 0},
                       index, unit));
      }
    }
  });
  return verdicts.judgement();
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
                                  "as after one shift by " + std::to_string(-whole));
  if (found) return *found;
  const auto reports_it = [](const UnitFacts& unit) {
    return std::ranges::any_of(unit.stored,
                               [](const Row& row) { return !std::isnan(row.position); });
  };
  const auto reported = [&](const Event& event) {
    return std::ranges::any_of(event.facts.units, reports_it);
  };
  if (std::ranges::none_of(once->events, reported)) return NotTested{"no position was told"};
  return std::monostate{};
}

Judgement keeps_norm(const History& history, const Contract& contract) {
  const bool moved_always = contract.shifts || contract.positions == PositionMode::shifted;
  const bool reported = std::ranges::any_of(history.events, [](const Event& event) {
    return std::ranges::any_of(event.facts.units, [](const UnitFacts& unit) {
      return std::ranges::any_of(unit.stored,
                                 [](const Row& row) { return !std::isnan(row.key_error); });
    });
  });
  Verdicts verdicts(moved_always && !reported
                        ? NotTested{"the subject tells no keys as vectors", true}
                        : NotTested{"no key is ever rotated again", !moved_always});
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    const bool moves = contract.positions == PositionMode::shifted;
    if (verdicts.found() || (line.shifts.empty() && !moves)) return;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      for (const Row& row : event.facts.units[unit].stored) {
        if (row.key.position < 0 || std::isnan(row.key_error)) continue;
        const auto position = static_cast<std::size_t>(row.key.position);
        const std::size_t since = event.branch.size() - std::min(event.branch.size(), position);
        const std::size_t rotations = 1 + line.shifts.size() + (moves ? since : 0);
        verdicts.tested();
        const double most = most_key_error(contract, row, rotations);
        if (row.key_error <= most) continue;
        verdicts.accuse(
            finding_at({"the key of token " + to_text(row.key) + ", rotated at most " +
                            std::to_string(rotations) + " times, is wrong by no more than " +
                            to_text(most) + " of its length",
                        "it is wrong by " + to_text(row.key_error), 0},
                       index, unit));
      }
    }
  });
  return verdicts.judgement();
}

}  // namespace kv::properties

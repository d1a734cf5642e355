#include "kvcheck/properties/laws/relations/row_relations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kvcheck/properties/laws/judging/position_checks.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/judging/walk.h"

namespace kv::properties {
namespace {

// The weights of a query in a run that evicts nothing, by token.
std::map<Token, double> dense_weights(const UnitFacts& unit, std::size_t query) {
  std::map<Token, double> weights;
  for (const std::size_t row : seen_by(unit, query)) {
    weights[unit.returned[row].value] = static_cast<double>(weight(unit, query, row));
  }
  return weights;
}

std::optional<Difference> unlike(const UnitFacts& dense, const UnitFacts& unit, std::size_t query) {
  const std::map<Token, double> weights = dense_weights(dense, query);
  const std::vector<std::size_t> rows = seen_by(unit, query);
  double kept = 0;
  for (const std::size_t row : rows) {
    const auto found = weights.find(unit.returned[row].value);
    if (found != weights.end()) kept += found->second;
  }
  if (!(kept > 1e-3)) return {};  // dividing by so little would magnify roundings
  for (const std::size_t row : rows) {
    const Token token = unit.returned[row].value;
    const auto found = weights.find(token);
    const double expected = found == weights.end() ? 0 : found->second / kept;
    const auto gave = static_cast<double>(weight(unit, query, row));
    if (std::abs(expected - gave) <= 2e-3) continue;
    return Difference{"query " + std::to_string(query) + " gives token " + to_text(token) +
                          " weight " + to_text(expected) +
                          ", as if nothing were evicted and the rest were masked",
                      "it gives " + to_text(gave), query};
  }
  return {};
}

// Whether both runs show what each query saw, and with which weights.
bool comparable(const UnitFacts& a, const UnitFacts& b, std::size_t queries) {
  return has_mask(a, queries) && has_mask(b, queries) && has_weights(a, queries) &&
         has_weights(b, queries);
}

}  // namespace

Judgement evict_equals_mask(Trial& trial, const Contract& contract) {
  if (contract.budget == 0) return NotTested{"nothing is ever evicted"};
  Case what = with_calls(trial.what(), feeds_of(trial.what()));
  what.setup.group = 1;  // the mean over heads of what is renormalised is not what is compared
  const auto history = trial.run(what);
  if (!history) return untested(history.error());
  Case unbounded = what;
  const auto tokens = static_cast<std::uint32_t>(what.tokens());
  unbounded.setup.budget = what.setup.sinks + what.setup.recent + tokens + 1;
  const auto dense = trial.run(unbounded);
  if (!dense) return untested(dense.error());
  Verdicts verdicts(NotTested{"the subject tells no weights", true});
  for (std::size_t i = 0; i < history->events.size() && i < dense->events.size(); ++i) {
    const Event& event = history->events[i];
    const std::size_t queries = event.fed.size();
    if (!is_feed(*history, event) || !is_feed(*dense, dense->events[i])) continue;
    for (std::size_t unit = 0; unit < history->units(); ++unit) {
      const UnitFacts& a = dense->events[i].facts.units[unit];
      const UnitFacts& b = event.facts.units[unit];
      if (!comparable(a, b, queries)) continue;
      for (std::size_t query = 0; query < queries && !verdicts.found(); ++query) {
        verdicts.tested();
        const auto found = unlike(a, b, query);
        if (!found) continue;
        Finding finding = finding_at(*found, i, unit);
        finding.history = *history;
        verdicts.accuse(std::move(finding));
      }
    }
  }
  return verdicts.judgement();
}

namespace {

// Null where the token has no row, or two: which of them to compare is not known.
const Row* row_of(const std::vector<Row>& rows, Token token) {
  const auto found = std::ranges::find(rows, token, &Row::value);
  if (found == rows.end()) return nullptr;
  const bool twice = std::find_if(found + 1, rows.end(),
                                  [&](const Row& row) { return row.value == token; }) != rows.end();
  return twice ? nullptr : &*found;
}

std::optional<Difference> changed(const Row& before, const Row& after, const Contract& contract) {
  const std::string label = "the row of token " + to_text(before.value);
  if (before.key != after.key) {
    return Difference{
        label + " is stored with the key of token " + to_text(before.key) + ", as attention saw it",
        "it is stored with the key of token " + to_text(after.key)};
  }
  if (before.value_place != after.value_place || before.key_place != after.key_place) {
    return Difference{
        label + " is stored as attention saw it, its key made for " + to_text(before.key_place),
        "the one stored has a key made for " + to_text(after.key_place)};
  }
  const bool reported = !std::isnan(before.position) && !std::isnan(after.position);
  if (contract.positions == PositionMode::absolute && reported &&
      std::abs(before.position - after.position) > position_slack) {
    return Difference{label + " is stored at position " + kv::properties::to_text(before.position) +
                          ", as attention saw it",
                      "it is stored at position " + kv::properties::to_text(after.position)};
  }
  return {};
}

}  // namespace

Judgement returned_equals_stored(const History& history, const Contract& contract) {
  Verdicts verdicts({"the subject tells nothing of its rows that could differ", true});
  for (std::size_t index = 0; index < history.events.size(); ++index) {
    const Event& event = history.events[index];
    if (!is_feed(history, event)) continue;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      const UnitFacts& facts = event.facts.units[unit];
      for (const Row& row : facts.returned) {
        const Row* const stored = row_of(facts.stored, row.value);
        if (stored == nullptr || row_of(facts.returned, row.value) == nullptr) continue;
        const bool placed =
            contract.positions == PositionMode::absolute && !std::isnan(row.position);
        if (reports_key(row) || reports_key(*stored) || reports_place(row) || placed)
          verdicts.tested();
        const auto found = changed(row, *stored, contract);
        if (found) verdicts.accuse(finding_at(*found, index, unit));
      }
    }
  }
  return verdicts.judgement();
}

namespace {

// Half a step, and a little: codes times steps are rounded to f32, and so may a step be.
constexpr double most_steps_off = 0.501;

std::optional<Difference> too_far(const Row& row) {
  const double most = row.full_precision ? 0 : most_steps_off;
  if (std::isnan(row.steps_off) || row.steps_off <= most) return {};
  const std::string token = "token " + kv::properties::to_text(row.value);
  if (row.full_precision) {
    return Difference{token + " is in full precision: its numbers are those that were fed",
                      "one is another", 0};
  }
  return Difference{"the numbers of " + token + " are off by at most half a step of their scale",
                    "one is off by " + to_text(row.steps_off) + " steps", 0};
}

}  // namespace

Judgement half_step(const History& history, const Contract& contract) {
  if (contract.positions == PositionMode::shifted) {
    return NotTested{"keys are rotated again: position.norm judges them", true};
  }
  Verdicts verdicts({"the subject does not tell how many steps its numbers are off", true});
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    if (verdicts.found() || !line.shifts.empty()) return;
    for (std::size_t unit = 0; unit < event.facts.units.size(); ++unit) {
      const UnitFacts& facts = event.facts.units[unit];
      for (const auto* const rows : {&facts.returned, &facts.stored}) {
        for (const Row& row : *rows) {
          if (!std::isnan(row.steps_off)) verdicts.tested();
          if (const auto found = too_far(row)) verdicts.accuse(finding_at(*found, index, unit));
        }
      }
    }
  });
  return verdicts.judgement();
}

}  // namespace kv::properties

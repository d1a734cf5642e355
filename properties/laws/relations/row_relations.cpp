#include "kvcheck/properties/laws/relations/relations.h"

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
    if (std::abs(expected - gave) <= 2e-3) continue;  // weights may be of half precision
    return Difference{phrase("query ", query, " gives token ", token, " weight ", expected,
                             ", as if nothing were evicted and the rest were masked"),
                      phrase("it gives ", gave), query};
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
  // More than all tokens, whatever is protected, so that nothing is ever evicted.
  unbounded.setup.budget = what.setup.sinks + what.setup.recent + tokens + 1;
  const auto dense = trial.run(unbounded);
  if (!dense) return untested(dense.error());
  const auto check = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    const std::size_t queries = at.event.fed.size();
    if (at.index >= dense->events.size()) return {};
    const Event& other = dense->events[at.index];
    if (!is_feed(*history, at.event) || !is_feed(*dense, other)) return {};
    const UnitFacts& all = other.facts.units[at.unit];
    if (!comparable(all, at.facts, queries)) return {};
    for (std::size_t query = 0; query < queries; ++query) {
      tested = true;
      if (auto found = unlike(all, at.facts, query)) return found;
    }
    return {};
  };
  return in_run(*history, check_units(*history, {"the subject tells no weights", true}, check));
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
  const auto label = [&] { return phrase("the row of token ", before.value, " is stored "); };
  if (before.key != after.key) {
    return Difference{
        phrase(label(), "with the key of token ", before.key, ", as attention saw it"),
        phrase("it is stored with the key of token ", after.key)};
  }
  if (before.value_place != after.value_place || before.key_place != after.key_place) {
    return Difference{phrase(label(), "as attention saw it, its key made for ", before.key_place),
                      phrase("the one stored has a key made for ", after.key_place)};
  }
  const bool reported = !std::isnan(before.position) && !std::isnan(after.position);
  if (contract.positions == PositionMode::absolute && reported &&
      std::abs(before.position - after.position) > position_slack) {
    return Difference{phrase(label(), "at position ", before.position, ", as attention saw it"),
                      phrase("it is stored at position ", after.position)};
  }
  return {};
}

}  // namespace

Judgement returned_equals_stored(const History& history, const Contract& contract) {
  const auto check = [&](const RowAt& at, bool& tested) -> std::optional<Difference> {
    if (at.is_stored || !is_feed(history, at.event)) return {};
    const Row* const stored = row_of(at.facts.stored, at.row.value);
    if (stored == nullptr || row_of(at.facts.returned, at.row.value) == nullptr) return {};
    const bool placed =
        contract.positions == PositionMode::absolute && !std::isnan(at.row.position);
    tested |= reports_key(at.row) || reports_key(*stored) || reports_place(at.row) || placed;
    return changed(at.row, *stored, contract);
  };
  return check_rows(history, {"the subject tells nothing of its rows that could differ", true},
                    check);
}

namespace {

// Half a step, and a little: codes times steps are rounded to f32, and so may a step be.
constexpr double most_steps_off = 0.501;

std::optional<Difference> too_far(const Row& row) {
  const double most = row.full_precision ? 0 : most_steps_off;
  if (std::isnan(row.steps_off) || row.steps_off <= most) return {};
  if (row.full_precision) {
    return Difference{
        phrase("token ", row.value, " is in full precision: its numbers are those that were fed"),
        "one is another", 0};
  }
  return Difference{
      phrase("the numbers of token ", row.value, " are off by at most half a step of their scale"),
      phrase("one is off by ", row.steps_off, " steps"), 0};
}

}  // namespace

Judgement half_step(const History& history, const Contract& contract) {
  if (contract.positions == PositionMode::shifted) {
    return NotTested{"keys are rotated again: position.norm judges them", true};
  }
  return check_rows(history, {"the subject does not tell how many steps its numbers are off", true},
                    [](const RowAt& at, bool& tested) -> std::optional<Difference> {
                      // A shift rotates the keys, and with them the numbers that codes stand for.
                      if (!at.line.shifts.empty()) return {};
                      tested |= !std::isnan(at.row.steps_off);
                      return too_far(at.row);
                    });
}

}  // namespace kv::properties

// What the laws that judge histories share: the calls with what was stored before each, sets of
// tokens, and findings that name a call, a unit and a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/law.h"

namespace kv::properties {

// A set of tokens: sorted by position, then variant. Duplicates are kept where rows had them.
using Tokens = std::vector<Token>;

// One call of a history with what its branch was before.
struct Step {
  std::size_t index = 0;  // into history.events
  const Event* event = nullptr;
  const Facts* before = nullptr;  // what the branch told last; null: it has told nothing yet
  std::uint64_t chunk = 0;        // tokens of the branch's last chunk, this call's included
  bool was_full = false;          // the branch once held more tokens than the budget

  // Whether the call took tokens in.
  [[nodiscard]] bool fed() const;

  // Tokens that the branch held before the call. Requires fed().
  [[nodiscard]] std::size_t tokens_before() const;

  // The rows that unit `unit` stored before the call.
  [[nodiscard]] std::span<const Row> stored_before(std::size_t unit) const;
};

// All calls in order. The history must outlive them. Cost: O(calls).
std::vector<Step> steps_of(const History& history);

// The values of the rows. Cost: a sort.
Tokens tokens_of(std::span<const Row> rows);

// Whether query `query` of the call may attend to returned row `row`; false outside the mask.
bool sees(const UnitFacts& unit, std::size_t query, std::size_t row);

// What the query sees, as tokens, and how many rows that is.
Tokens visible_to(const UnitFacts& unit, std::size_t query);

// The tokens of the call up to query `query`, its own included.
Tokens chunk_up_to(const Step& step, std::size_t query);

// The rows that some query of the call sees, in slot order.
std::vector<Row> seen_rows(const UnitFacts& unit, std::size_t queries);

Tokens minus(const Tokens& from, const Tokens& what);
Tokens common(const Tokens& a, const Tokens& b);
Tokens joined(const Tokens& a, const Tokens& b);
bool includes(const Tokens& all, const Tokens& some);
bool contains(const Tokens& all, Token token);

// Those of `tokens` at positions in [begin, end).
Tokens between(std::span<const Token> tokens, std::int64_t begin, std::int64_t end);

// "0 3-6 9", a variant as "4v1", padding as "?"; "nothing" when empty.
std::string text_of(const Tokens& tokens);

// "query 5", or "query 5 of chunk 4-7".
std::string query_text(const Event& event, std::size_t query);

// A contract whose sizes leave no choice: sinks and recent tokens are the whole budget.
bool has_no_middle(const Contract& contract);

// The lowest number of the latest tokens, its own included, that query `query` of a chunk sees,
// given that recent ones are protected.
std::uint64_t latest_seen(const Contract& contract, std::uint64_t chunk, std::uint64_t query);

Finding finding_at(const Step& step, std::size_t unit, std::string expected, std::string seen);

Finding finding_at(
    const Step& step, std::size_t unit, std::size_t query, std::string expected, std::string seen);

// `count` rows: "1 row", "2 rows".
std::string rows_text(std::uint64_t count);

// Calls judge(step, unit index, facts) -> optional<Finding> on every unit after every call.
template <typename Judge>
Judgement each_unit(const History& history, Judge judge) {
  for (const Step& step : steps_of(history)) {
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      std::optional<Finding> finding = judge(step, unit, units[unit]);
      if (finding) return *std::move(finding);
    }
  }
  return {};
}

// Calls judge(step, unit index, facts, query) on every query of every call that took tokens in.
// NotTested where there is none.
template <typename Judge>
Judgement each_query(const History& history, Judge judge) {
  bool any = false;
  for (const Step& step : steps_of(history)) {
    if (!step.fed()) continue;
    any = true;
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      for (std::size_t query = 0; query < step.event->fed.size(); ++query) {
        std::optional<Finding> finding = judge(step, unit, units[unit], query);
        if (finding) return *std::move(finding);
      }
    }
  }
  if (!any) return NotTested{"no call took tokens in"};
  return {};
}

}  // namespace kv::properties

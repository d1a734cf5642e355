// What the laws that judge histories share: the calls with what was stored before each, views of
// one unit and of one query, sets of tokens, and findings that name a call, a unit and a query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/judging/facts.h"

namespace kv::properties {

// A set of tokens: sorted by position, then variant. Duplicates are kept where rows had them.
using Tokens = std::vector<Token>;

// One call of a history with what its branch was before.
struct Step {
  std::size_t index = 0;  // into history.events
  const Event* event = nullptr;
  const Facts* before = nullptr;  // what the branch reported last; null: nothing yet
  std::uint64_t chunk = 0;        // tokens of the branch's last chunk, this call's included
  std::uint64_t prompt = 0;       // tokens of the branch's first chunk, as far as they count
  bool was_full = false;          // the branch once held more tokens than the budget

  // Whether the call took tokens in.
  [[nodiscard]] bool fed() const;

  // Tokens that the branch held before the call. Requires fed().
  [[nodiscard]] std::size_t tokens_before() const;

  // Where the branch stands after the call, and where its queries found it.
  [[nodiscard]] Fed after() const { return {event->branch.size(), prompt}; }

  [[nodiscard]] Fed before_queries() const { return {std::max(tokens_before(), prompt), prompt}; }

  // Whether no later call than the first has fed tokens that count.
  [[nodiscard]] bool is_prompt() const { return event->branch.size() <= prompt; }

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

// Those of `tokens`, which are sorted, at positions in [begin, end).
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

// `count` rows: "1 row", "2 rows".
std::string rows_text(std::uint64_t count);

// Excuses that several laws share.
WhyNot unless_bounded(const Contract& contract);
WhyNot unless_sinks(const Contract& contract);
WhyNot unless_prompt_decides(const Contract& contract);  // chunks of a stream decide nothing

using MaybeFinding = std::optional<Finding>;

// One unit after one call.
struct UnitView {
  const History& history;
  const Contract& contract;  // the one to judge by; history.contract is what the subject declared
  const Step& step;
  std::size_t unit;
  const UnitFacts& facts;

  [[nodiscard]] const Event& event() const { return *step.event; }

  // All tokens of the branch that still count, this call's included, in stream order.
  [[nodiscard]] const std::vector<Token>& branch() const { return event().branch; }

  [[nodiscard]] Tokens stored() const { return tokens_of(facts.stored); }

  [[nodiscard]] Tokens stored_before() const { return tokens_of(step.stored_before(unit)); }

  // " after 12 tokens".
  [[nodiscard]] std::string after_text() const;

  [[nodiscard]] Finding finding(std::string expected, std::string seen) const {
    return finding_at(step, unit, std::move(expected), std::move(seen));
  }
};

// One query of a call that took tokens in.
struct QueryView : UnitView {
  std::size_t query;

  [[nodiscard]] Token own() const { return event().fed[query]; }

  [[nodiscard]] std::int64_t position() const { return own().position; }

  [[nodiscard]] Tokens visible() const { return visible_to(facts, query); }

  // The tokens of the call up to this query, its own included.
  [[nodiscard]] Tokens chunk() const { return chunk_up_to(step, query); }

  // Those of the branch's tokens at positions in [begin, end).
  [[nodiscard]] Tokens between_positions(std::int64_t begin, std::int64_t end) const {
    return between(branch(), begin, end);
  }

  // "query 5 of chunk 4-7 EXPECTED"; `should_see` is for the picture.
  [[nodiscard]] Finding finding(const std::string& expected,
                                std::string seen,
                                std::optional<Tokens> should_see = {}) const;
};

// The contract that each unit is judged by: its own where budgets are declared one by one, and that
// of where the stream stands where prompts are declared.
class UnitContracts {
 public:
  explicit UnitContracts(const Contract& contract);

  // To be called before of(): the branch stands there.
  void stand_at(const Fed& fed, bool is_prompt);

  // `unit` is an index into Facts::units.
  [[nodiscard]] const Contract& of(std::size_t unit) const {
    return own_.empty() ? all_ : own_[unit % own_.size()];
  }

 private:
  const Contract& all_;
  std::vector<Contract> declared_;  // of units, where they differ or the stream decides
  std::vector<Contract> own_;
};

// Calls judge(UnitView) -> MaybeFinding on every unit after every call.
template <typename Judge>
Judgement each_unit(const History& history, const Contract& contract, Judge judge) {
  UnitContracts contracts(contract);
  for (const Step& step : steps_of(history)) {
    contracts.stand_at(step.after(), step.is_prompt());
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      MaybeFinding finding = judge(UnitView{history, contracts.of(unit), step, unit, units[unit]});
      if (finding) return *std::move(finding);
    }
  }
  return {};
}

// Calls judge(QueryView) -> MaybeFinding on every query of every call that took tokens in.
// NotTested where there is none.
template <typename Judge>
Judgement each_query(const History& history, const Contract& contract, Judge judge) {
  UnitContracts contracts(contract);
  bool any = false;
  for (const Step& step : steps_of(history)) {
    if (!step.fed()) continue;
    any = true;
    contracts.stand_at(step.before_queries(), step.is_prompt());
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      for (std::size_t query = 0; query < step.event->fed.size(); ++query) {
        MaybeFinding finding =
            judge(QueryView{{history, contracts.of(unit), step, unit, units[unit]}, query});
        if (finding) return *std::move(finding);
      }
    }
  }
  if (!any) return NotTested{"no call took tokens in"};
  return {};
}

// The same as laws, of judges that need nothing but the view.
template <MaybeFinding (*judge)(const UnitView&)>
Judgement per_unit(const History& history, const Contract& contract) {
  return each_unit(history, contract, judge);
}

template <MaybeFinding (*judge)(const QueryView&)>
Judgement per_query(const History& history, const Contract& contract) {
  return each_query(history, contract, judge);
}

}  // namespace kv::properties

// What laws read out of facts, and how the facts of two runs are compared.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

// "3", "3v1" for another variant, "nothing" for what was never fed.
std::string to_text(Token token);

// "sequence 0, layer 1, head 0".
std::string to_text(const Place& place);

// "0 3 4v1", or "none".
std::string words_of(std::span<const Token> tokens);

// 4, 4.5: without digits that say nothing.
std::string to_text(double number);

// The parts as one text; numbers, tokens and places as they are written above.
template <typename... Parts>
std::string phrase(const Parts&... parts) {
  std::string text;
  const auto add = [&text](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_convertible_v<Part, std::string_view>) {
      text += part;
    } else if constexpr (std::is_integral_v<Part>) {
      text += std::to_string(part);
    } else {
      text += to_text(part);
    }
  };
  (add(parts), ...);
  return text;
}

// Whether a row reports more than its token: its key, or the cache that it was made for.
bool reports_key(const Row& row);
bool reports_place(const Row& row);

// Whether some stored row has what `reports_it` asks for; and whether some row has, stored or
// returned to attention.
bool any_stored(const History& history, const std::function<bool(const Row&)>& reports_it);
bool any_row(const History& history, const std::function<bool(const Row&)>& reports_it);

// Whether attention can make a difference that shows: the subject decides by it, or reports
// weights.
bool heeds_attention(const History& history);

// Whose values lie in the rows, in slot order.
std::vector<Token> row_tokens(std::span<const Row> rows);

// Whether the mask has a line for each query and a column for each row returned. Where it has not,
// other laws say so, and these cannot read it.
bool has_mask(const UnitFacts& unit, std::size_t queries);

// The rows that a query may attend to, as indices into `returned`, in stream order. Requires a
// mask.
std::vector<std::size_t> seen_by(const UnitFacts& unit, std::size_t query);

// The rotary positions that attention used; NaN: not reported.
double query_position(const UnitFacts& unit, std::size_t query);
double key_position(const UnitFacts& unit, std::size_t query, std::size_t row);

// The weight that a query gave to a row, and whether weights were reported at all.
bool has_weights(const UnitFacts& unit, std::size_t queries);
float weight(const UnitFacts& unit, std::size_t query, std::size_t row);

// Whether the event fed tokens, and its facts have every unit.
bool is_feed(const History& history, const Event& event);

// How closely two runs are to agree.
struct Compare {
  bool ordered = true;  // slot by slot; else as sets
  bool exact = true;    // false: chance differs, so that only sizes can be compared
  bool sizes = true;
  bool weights = true;
  double position_slack = 0.01;
  double weight_slack = 1e-4;
};

Compare comparing(const Contract& contract, const Family& family);

struct Difference {
  std::string expected;
  std::string seen;
  std::size_t query = 0;
};

// What differs between what is stored, reported and visible, with its positions and weights.
// Whether the rows' places agree is not asked.
std::optional<Difference> difference(const UnitFacts& expected,
                                     const UnitFacts& seen,
                                     std::size_t queries,
                                     const Compare& compare);

// A finding about one unit of one event.
Finding finding_at(const Difference& difference, std::size_t event, std::size_t unit);

// The same in a run that is not the case's own. `as`, if any, begins the finding: "as if they had
// never been fed".
Finding finding_in(const History& run,
                   std::size_t event,
                   std::size_t unit,
                   const Difference& difference,
                   std::string_view as = {});

// The judgement of a run that is not the case's own.
Judgement in_run(const History& run, Judgement judgement);

// The finding, or that the law holds.
Judgement held(std::optional<Finding> found);

// That the law holds, or why it may hold only because nothing that attention does could show.
Judgement unless_heedless(const History& history);

// The judgement, or `silent` where it holds only because the subject reported nothing to judge.
Judgement unless_silent(Judgement judgement, bool reported, NotTested silent);

}  // namespace kv::properties

#include "kvcheck/properties/laws/judging/facts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kv::properties {
namespace {

std::vector<Row> in_order(std::vector<Row> rows, bool ordered) {
  if (!ordered) std::ranges::stable_sort(rows, {}, &Row::value);
  return rows;
}

// A number that is reported in one run and not in the other is a difference too.
bool differ(double a, double b, double slack) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) != std::isnan(b);
  return std::abs(a - b) > slack;
}

std::optional<Difference> stored_difference(const UnitFacts& expected,
                                            const UnitFacts& seen,
                                            const Compare& compare) {
  // With draws of its own a subject may keep other tokens, but not another number of them.
  if (!compare.exact) {
    if (!compare.sizes || expected.stored.size() == seen.stored.size()) return std::nullopt;
    return Difference{phrase("it stores ", expected.stored.size(), " rows"),
                      phrase("it stores ", seen.stored.size())};
  }
  const std::vector<Row> a = in_order(expected.stored, compare.ordered);
  const std::vector<Row> b = in_order(seen.stored, compare.ordered);
  if (row_tokens(a) != row_tokens(b)) {
    return Difference{"it stores " + words_of(row_tokens(a)),
                      "it stores " + words_of(row_tokens(b))};
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto row = [&] { return phrase("the row of token ", a[i].value); };
    if (a[i].key != b[i].key) {
      return Difference{phrase(row(), " has the key of token ", a[i].key),
                        phrase("it has the key of token ", b[i].key)};
    }
    if (differ(a[i].position, b[i].position, compare.position_slack)) {
      return Difference{phrase(row(), " is stored at position ", a[i].position),
                        phrase("it is stored at position ", b[i].position)};
    }
    if (a[i].full_precision != b[i].full_precision) {
      return Difference{row() + (a[i].full_precision ? " is in full precision" : " is quantised"),
                        b[i].full_precision ? "it is in full precision" : "it is quantised"};
    }
  }
  if (expected.reported && seen.reported && *expected.reported != *seen.reported) {
    return Difference{phrase("it reports ", *expected.reported, " rows"),
                      phrase("it reports ", *seen.reported)};
  }
  return std::nullopt;
}

std::vector<Token> tokens_seen(const UnitFacts& unit, std::span<const std::size_t> rows) {
  std::vector<Token> tokens;
  tokens.reserve(rows.size());
  for (const std::size_t row : rows) tokens.push_back(unit.returned[row].value);
  return tokens;
}

std::optional<Difference> query_difference(const UnitFacts& expected,
                                           const UnitFacts& seen,
                                           std::size_t query,
                                           std::size_t queries,
                                           const Compare& compare) {
  const std::vector<std::size_t> a = seen_by(expected, query);
  const std::vector<std::size_t> b = seen_by(seen, query);
  const std::vector<Token> tokens = tokens_seen(expected, a);
  // Sentences are composed for findings only: composing them took more time than comparing.
  const auto name = [&] { return phrase("query ", query, " of the call"); };
  if (tokens != tokens_seen(seen, b)) {
    return Difference{name() + " sees " + words_of(tokens),
                      "it sees " + words_of(tokens_seen(seen, b)), query};
  }
  const double at = query_position(expected, query);
  if (differ(at, query_position(seen, query), compare.position_slack)) {
    return Difference{phrase(name(), " is at position ", at),
                      phrase("it is at position ", query_position(seen, query)), query};
  }
  // From cause to effect: tokens first, then positions, then the weights that follow from both. No
  // subject need report weights.
  const bool weighed =
      compare.weights && has_weights(expected, queries) && has_weights(seen, queries);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto pair = [&] { return phrase(name(), " reads token ", tokens[i]); };
    const double mine = key_position(expected, query, a[i]);
    const double other = key_position(seen, query, b[i]);
    if (differ(mine, other, compare.position_slack)) {
      return Difference{phrase(pair(), " at position ", mine), phrase("at position ", other),
                        query};
    }
    if (!weighed) continue;
    const auto gives = static_cast<double>(weight(expected, query, a[i]));
    const auto gave = static_cast<double>(weight(seen, query, b[i]));
    if (differ(gives, gave, compare.weight_slack)) {
      return Difference{phrase(pair(), " with weight ", gives), phrase("with weight ", gave),
                        query};
    }
  }
  return std::nullopt;
}

template <typename Is>
bool any_unit(const History& history, Is is) {
  return std::ranges::any_of(history.events, [&](const Event& event) {
    return std::ranges::any_of(event.facts.units, is);
  });
}

}  // namespace

std::string to_text(Token token) {
  if (token.position < 0) return "nothing";
  return phrase(token.position, token.variant == 0 ? "" : phrase("v", token.variant));
}

std::string to_text(const Place& place) {
  return phrase("sequence ", place.sequence, ", layer ", place.layer, ", head ", place.head);
}

std::string words_of(std::span<const Token> tokens) {
  if (tokens.empty()) return "none";
  std::string words;
  for (const Token token : tokens) words += (words.empty() ? "" : " ") + to_text(token);
  return words;
}

std::string to_text(double number) {
  if (std::isnan(number)) return "not reported";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

bool reports_key(const Row& row) {
  return row.apart || row.key != row.value;
}

bool reports_place(const Row& row) {
  return row.value_place != place_not_reported || row.key_place != place_not_reported;
}

bool any_stored(const History& history, const std::function<bool(const Row&)>& reports_it) {
  return any_unit(
      history, [&](const UnitFacts& unit) { return std::ranges::any_of(unit.stored, reports_it); });
}

bool any_row(const History& history, const std::function<bool(const Row&)>& reports_it) {
  return any_stored(history, reports_it) || any_unit(history, [&](const UnitFacts& unit) {
           return std::ranges::any_of(unit.returned, reports_it);
         });
}

bool heeds_attention(const History& history) {
  return history.contract.wants_attention ||
         any_unit(history, [](const UnitFacts& unit) { return !unit.weights.empty(); });
}

std::vector<Token> row_tokens(std::span<const Row> rows) {
  std::vector<Token> tokens;
  tokens.reserve(rows.size());
  for (const Row& row : rows) tokens.push_back(row.value);
  return tokens;
}

bool has_mask(const UnitFacts& unit, std::size_t queries) {
  return unit.mask_width == unit.returned.size() &&
         unit.visible.size() == queries * unit.mask_width;
}

std::vector<std::size_t> seen_by(const UnitFacts& unit, std::size_t query) {
  std::vector<std::size_t> rows;
  rows.reserve(unit.returned.size());
  for (std::size_t row = 0; row < unit.returned.size(); ++row) {
    if (unit.visible[query * unit.mask_width + row] != 0) rows.push_back(row);
  }
  // Twins stay in the order of their slots, so that two runs list them alike.
  const auto value = [&](std::size_t row) { return unit.returned[row].value; };
  if (!std::ranges::is_sorted(rows, {}, value)) std::ranges::stable_sort(rows, {}, value);
  return rows;
}

double query_position(const UnitFacts& unit, std::size_t query) {
  return query < unit.query_positions.size() ? unit.query_positions[query] : not_reported;
}

double key_position(const UnitFacts& unit, std::size_t query, std::size_t row) {
  // Without a position for each query, a key stands where its row says.
  const std::size_t at = query * unit.returned.size() + row;
  return at < unit.key_positions.size() ? unit.key_positions[at] : unit.returned[row].position;
}

bool has_weights(const UnitFacts& unit, std::size_t queries) {
  return !unit.weights.empty() && unit.weights.size() == queries * unit.returned.size();
}

float weight(const UnitFacts& unit, std::size_t query, std::size_t row) {
  return unit.weights[query * unit.returned.size() + row];
}

bool is_feed(const History& history, const Event& event) {
  return event.call.kind == Call::Kind::feed && !event.refused && !event.fed.empty() &&
         event.facts.units.size() == history.units();
}

// A subject that draws from what it is given repeats itself exactly; one with a generator of its
// own need not, even under one seed.
Compare comparing(const Contract& contract, const Family& family) {
  return {.ordered = !contract.unordered,
          .exact = !contract.random || family.uses_draws(),
          .sizes = !contract.keeps_fewer};
}

std::optional<Difference> difference(const UnitFacts& expected,
                                     const UnitFacts& seen,
                                     std::size_t queries,
                                     const Compare& compare) {
  // Queries first: what a query saw explains what is stored after it, and not the other way round.
  if (compare.exact && has_mask(expected, queries) && has_mask(seen, queries)) {
    for (std::size_t query = 0; query < queries; ++query) {
      if (auto found = query_difference(expected, seen, query, queries, compare)) return found;
    }
  }
  return stored_difference(expected, seen, compare);
}

Finding finding_at(const Difference& difference, std::size_t event, std::size_t unit) {
  return {.expected = difference.expected,
          .seen = difference.seen,
          .event = event,
          .unit = unit,
          .query = difference.query};
}

Finding finding_in(const History& run,
                   std::size_t event,
                   std::size_t unit,
                   const Difference& difference,
                   std::string_view as) {
  Finding finding = finding_at(difference, event, unit);
  if (!as.empty()) finding.expected = phrase(as, ": ", finding.expected);
  finding.history = run;
  return finding;
}

Judgement in_run(const History& run, Judgement judgement) {
  if (auto* const finding = std::get_if<Finding>(&judgement)) finding->history = run;
  return judgement;
}

Judgement held(std::optional<Finding> found) {
  if (found) return *std::move(found);
  return std::monostate{};
}

Judgement unless_heedless(const History& history) {
  return unless_silent({}, heeds_attention(history),
                       {"the subject neither decides by attention nor tells what it gives", true});
}

Judgement unless_silent(Judgement judgement, bool reported, NotTested silent) {
  const bool holds = std::holds_alternative<std::monostate>(judgement);
  return holds && !reported ? Judgement(std::move(silent)) : judgement;
}

}  // namespace kv::properties

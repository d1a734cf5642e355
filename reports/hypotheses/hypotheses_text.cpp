#include "kvcheck/reports/hypotheses/hypotheses_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {
namespace {

bool of_numbers(const DecidedCondition& one) {
  return !one.condition.measure.empty();
}

// Null of perplexity, which is the exponential of a measure.
const Measure* measure_of(const Condition& condition) {
  return measure_named(condition.measure);
}

// Enough to tell a ratio or power from a bound that is close.
int decimals_of(const DecidedCondition& one) {
  const auto close = [&](const std::optional<double>& bound) {
    return bound && std::abs(one.value.mean - *bound) < 0.01;
  };
  return close(one.condition.bounds.above) || close(one.condition.bounds.below) ? 5 : 3;
}

// A mean of the measure, as in other tables.
std::string mean_text(const Condition& condition, double value) {
  const Measure* const measure = measure_of(condition);
  if (measure == nullptr) return number_entry(value, 3).text;
  if (condition.measure == "moved_rows") return number_entry(value, 0).text;
  return entry_of(*measure, value).text;
}

std::string value_text(const DecidedCondition& one, double value) {
  if (std::isinf(value)) return "infinity";
  const Quantity quantity = one.condition.quantity;
  if (quantity == Quantity::ratio || quantity == Quantity::growth) {
    return number_entry(value, decimals_of(one)).text;
  }
  const std::string text = mean_text(one.condition, value);
  return (quantity == Quantity::difference && value > 0 ? "+" : "") + text;
}

std::string measure_words(const Condition& condition) {
  if (condition.quantity == Quantity::law) return "law";
  if (condition.quantity == Quantity::uniform) return "uniform sample";
  const Measure* const measure = measure_of(condition);
  std::string words = measure == nullptr ? "perplexity" : std::string(measure->title);
  if (condition.spread) words += ", standard deviation over seeds";
  if (condition.window) {
    words +=
        *condition.window == 0 ? ", uncut" : ", windows of " + std::to_string(*condition.window);
  }
  if (condition.length) words += ", after " + std::to_string(*condition.length) + " tokens";
  if (condition.layer) words += ", layer " + std::to_string(*condition.layer);
  if (condition.quantity == Quantity::growth) {
    words += condition.length ? ", power of the budget" : ", power of the length";
  }
  return words;
}

std::string other_words(const Condition& condition) {
  if (condition.quantity == Quantity::difference) return "minus " + condition.against;
  if (condition.quantity == Quantity::ratio) return "divided by " + condition.against;
  return "";
}

std::string measured_words(const DecidedCondition& one) {
  if (!of_numbers(one)) return printable_line(one.found);
  std::string words = value_text(one, one.value.mean);
  if (!std::isnan(one.value.low)) {
    words += " (" + value_text(one, one.value.low) + " to " + value_text(one, one.value.high) + ")";
  }
  if (!one.condition.against.empty()) {
    words += ", of " + mean_text(one.condition, one.of_mean) + " and " +
             mean_text(one.condition, one.against_mean);
  }
  const Measure* const measure = measure_of(one.condition);
  return words + "; " +
         (measure == nullptr ? std::to_string(one.texts) + (one.texts == 1 ? " text" : " texts")
                             : measure->counted(one.texts));
}

std::string required_words(const Condition& condition) {
  if (condition.measure.empty()) return "";
  std::string words;
  if (condition.bounds.above) words = "above " + shortest(*condition.bounds.above);
  if (condition.bounds.below) {
    words += (words.empty() ? "below " : ", below ") + shortest(*condition.bounds.below);
  }
  return words;
}

Table table_of(const DecidedHypothesis& decided) {
  Table table{.columns = {{.title = "where", .name = "about"},
                          {.title = "measure", .name = "measure"},
                          {.title = "of", .name = "of"},
                          {.title = "against", .name = "against"},
                          {.title = "measured (95 %)", .name = "measured"},
                          {.title = "needed", .name = "needed"},
                          {.title = "verdict", .name = "verdict"}},
              .rows = {}};
  for (const DecidedCondition& one : decided.conditions) {
    const auto entry = [](const std::string& text) { return Entry{text, text}; };
    table.rows.push_back(
        {entry(printable_line(one.condition.about)), entry(measure_words(one.condition)),
         entry(printable_line(one.condition.of)), entry(printable_line(other_words(one.condition))),
         entry(measured_words(one)), entry(required_words(one.condition)),
         entry(std::string(name_of(one.verdict)))});
  }
  return table;
}

std::string sentence(std::string_view words) {
  std::string out(words);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out + ".";
}

// "2 of 4": how many conditions hold.
std::string holding(const DecidedHypothesis& one) {
  const auto holds = std::ranges::count(one.conditions, Verdict::holds, &DecidedCondition::verdict);
  return std::to_string(holds) + " of " + std::to_string(one.conditions.size());
}

// What a user wrote, in one line and without a column's end.
std::string in_a_cell(const std::string& text) {
  std::string out;
  for (const char c : printable_line(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

// A condition in lines that begin with `indent`.
std::string condition_text(const DecidedCondition& one, const std::string& indent) {
  const Condition& condition = one.condition;
  std::string out = indent + std::string(name_of(one.verdict)) + ": ";
  if (!condition.about.empty()) out += printable_line(condition.about) + ", ";
  out += measure_words(condition) + "\n";
  out += indent + "  " + printable_line(condition.of) + "\n";
  if (!condition.against.empty()) {
    out += indent + "  " + printable_line(other_words(condition)) + "\n";
  }
  out += indent + "  " + measured_words(one);
  if (of_numbers(one)) out += "; needed " + required_words(condition);
  return out + "\n";
}

std::string condition_line(const DecidedCondition& one) {
  const Condition& condition = one.condition;
  JsonObject object;
  object.add("about", std::string_view(condition.about))
      .add("results", std::string_view(condition.results))
      .add("quantity", name_of(condition.quantity))
      .add("of", std::string_view(condition.of))
      .add("verdict", name_of(one.verdict));
  if (!of_numbers(one)) return object.add("found", std::string_view(one.found)).text();
  object.add("against", std::string_view(condition.against))
      .add("measure", std::string_view(condition.measure))
      .add("spread", condition.spread);
  if (condition.window) object.add("window", std::uint64_t{*condition.window});
  if (condition.length) object.add("length", std::uint64_t{*condition.length});
  if (condition.layer) object.add("layer", std::uint64_t{*condition.layer});
  if (condition.bounds.above) object.add("above", *condition.bounds.above);
  if (condition.bounds.below) object.add("below", *condition.bounds.below);
  return object.add("value", one.value.mean)
      .add("low", one.value.low)
      .add("high", one.value.high)
      .add("of_mean", one.of_mean)
      .add("against_mean", condition.against.empty() ? not_measured : one.against_mean)
      .add("texts", std::uint64_t{one.texts})
      .text();
}

}  // namespace

std::string hypotheses_text(const std::vector<DecidedHypothesis>& decided) {
  std::string out;
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const DecidedHypothesis& one = decided[i];
    if (i > 0) out += "\n";
    out += std::to_string(i + 1) + ". " + printable_line(one.hypothesis.text) + "\n   " +
           sentence(name_of(one.verdict)) + " " + holding(one) + " conditions hold.\n";
    for (const DecidedCondition& condition : one.conditions) {
      out += condition_text(condition, "   ");
    }
  }
  return out;
}

std::string hypotheses_markdown(const std::vector<DecidedHypothesis>& decided) {
  std::string out =
      "| | hypothesis | verdict | conditions that hold |\n| --- | --- | --- | --- |\n";
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    out += "| [" + number + "](#hypothesis-" + number + ") | " +
           in_a_cell(decided[i].hypothesis.text) + " | **" +
           std::string(name_of(decided[i].verdict)) + "** | " + holding(decided[i]) + " |\n";
  }
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const DecidedHypothesis& one = decided[i];
    out +=
        "\n### Hypothesis " + std::to_string(i + 1) + "\n\n" + printable_line(one.hypothesis.text);
    if (!one.hypothesis.source.empty()) out += " *(" + printable_line(one.hypothesis.source) + ")*";
    out += "\n\n**" + sentence(name_of(one.verdict)) + "**";
    if (!one.hypothesis.note.empty()) out += " " + printable_line(one.hypothesis.note);
    out += "\n\n" + to_markdown(table_of(one));
  }
  return out;
}

std::string hypotheses_lines(const std::vector<DecidedHypothesis>& decided) {
  std::string lines;
  for (const DecidedHypothesis& one : decided) {
    lines += JsonObject()
                 .add("hypothesis", std::string_view(one.hypothesis.text))
                 .add("source", std::string_view(one.hypothesis.source))
                 .add("note", std::string_view(one.hypothesis.note))
                 .add("verdict", name_of(one.verdict))
                 .add_raw("conditions", json_list(one.conditions, condition_line))
                 .text() +
             "\n";
  }
  return lines;
}

}  // namespace kv::reports

#include "kvcheck/reports/hypotheses/hypotheses_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {
namespace {

bool of_numbers(const DecidedCondition& one) {
  return !one.condition.measure.empty();
}

// As in other tables of the measure; ratios and powers with three decimals.
std::string rounded(const DecidedCondition& one, double value) {
  const Quantity quantity = one.condition.quantity;
  const auto known = std::ranges::find(measures(), one.condition.measure, &Measure::name);
  const bool pure = quantity == Quantity::ratio || quantity == Quantity::growth;
  const std::string text = pure || known == measures().end() ? number_entry(value, 3).text
                                                             : entry_of(*known, value).text;
  return (quantity == Quantity::difference && value > 0 ? "+" : "") + text;
}

std::string title_of(const Condition& condition) {
  if (condition.measure == "perplexity") return "perplexity";
  for (const Measure& measure : measures()) {
    if (measure.name == condition.measure) return std::string(measure.title);
  }
  return condition.measure;
}

std::string measure_words(const Condition& condition) {
  if (condition.quantity == Quantity::law) return "law";
  if (condition.quantity == Quantity::uniform) return "uniform sample";
  std::string words = title_of(condition);
  if (condition.spread) words += ", standard deviation over seeds";
  if (condition.window) {
    words +=
        *condition.window == 0 ? ", uncut" : ", windows of " + std::to_string(*condition.window);
  }
  return words;
}

std::string other_words(const Condition& condition) {
  if (condition.quantity == Quantity::difference) return "minus " + condition.against;
  if (condition.quantity == Quantity::ratio) return "divided by " + condition.against;
  return "";
}

std::string measured_words(const DecidedCondition& one) {
  if (!of_numbers(one)) return one.found;
  std::string words = rounded(one, one.value.mean);
  if (!std::isnan(one.value.low)) {
    words += " (" + rounded(one, one.value.low) + " to " + rounded(one, one.value.high) + ")";
  }
  if (!one.condition.against.empty()) {
    DecidedCondition plain = one;
    plain.condition.quantity = Quantity::mean;
    words += ", of " + rounded(plain, one.of_mean) + " and " + rounded(plain, one.against_mean);
  }
  return words + "; " + std::to_string(one.texts) + " " + std::string(one.units);
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
    table.rows.push_back({entry(one.condition.about), entry(measure_words(one.condition)),
                          entry(one.condition.of), entry(other_words(one.condition)),
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

// In a cell of a table and in one paragraph.
std::string in_one_line(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? ' ' : c;
  return out;
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
  if (condition.bounds.above) object.add("above", *condition.bounds.above);
  if (condition.bounds.below) object.add("below", *condition.bounds.below);
  object.add("value", one.value.mean);
  object.add("low", one.value.low);
  object.add("high", one.value.high);
  object.add("of_mean", one.of_mean);
  object.add("against_mean", one.against_mean);
  return object.add("texts", std::uint64_t{one.texts}).text();
}

}  // namespace

std::string hypotheses_text(const std::vector<DecidedHypothesis>& decided, std::size_t width) {
  std::string out;
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const DecidedHypothesis& one = decided[i];
    out += std::to_string(i + 1) + ". " + in_one_line(one.hypothesis.text) + "\n   " +
           sentence(name_of(one.verdict)) + "\n\n" + to_text(table_of(one), width) + "\n";
  }
  return out;
}

std::string hypotheses_markdown(const std::vector<DecidedHypothesis>& decided) {
  std::string out = "| | hypothesis | verdict |\n| --- | --- | --- |\n";
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    out += "| [" + number + "](#hypothesis-" + number + ") | " +
           in_one_line(decided[i].hypothesis.text) + " | **" +
           std::string(name_of(decided[i].verdict)) + "** |\n";
  }
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const DecidedHypothesis& one = decided[i];
    out += "\n### Hypothesis " + std::to_string(i + 1) + "\n\n" + one.hypothesis.text;
    if (!one.hypothesis.source.empty()) out += " *(" + one.hypothesis.source + ")*";
    out += "\n\n**" + sentence(name_of(one.verdict)) + "**";
    if (!one.hypothesis.note.empty()) out += " " + one.hypothesis.note;
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

// The table, the words and the JSON lines of a comparison.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/compare_tables.h"

namespace kv::reports {
namespace {

Entry signed_entry(const Measure& measure, double value) {
  Entry entry = entry_of(measure, value);
  if (value > 0) entry.text.insert(0, "+");
  return entry;
}

Entry p_entry(double p) {
  if (p < 1e-3) return {"< 0.001", shortest(p)};
  return number_entry(p, p < 0.1 ? 3 : 2);
}

// "+0.0012 to +0.0034"; "-" for none. Exactly it is the lower end.
Entry span_entry(const Measure& measure, double low, double high) {
  if (std::isnan(low)) return {"-", ""};
  return {signed_entry(measure, low).text + " to " + signed_entry(measure, high).text,
          shortest(low)};
}

// A rank without needless decimals, with its interval where it is not of width 0.
Entry rank_entry(const Interval& rank) {
  if (std::isnan(rank.mean)) return {"-", ""};
  std::string text = shortest(rank.mean);
  if (rank.high > rank.low) text += " (" + shortest(rank.low) + "-" + shortest(rank.high) + ")";
  return {text, shortest(rank.mean)};
}

Column exact(const char* name) {
  return {.title = "", .name = name, .number = true, .exact_only = true};
}

std::vector<Column> columns_of(const Comparison& comparison) {
  std::vector<Column> columns = {
      {.title = "policy", .name = "policy"},
      {.title = "", .name = "spec", .exact_only = true},
      {.title = "", .name = "measure", .exact_only = true},
      {.title = "budget", .name = "budget", .number = true},
      {.title = std::string(comparison.measure.units()), .name = "texts", .number = true},
  };
  if (comparison.layer) columns.insert(columns.begin() + 3, exact("layer"));
  if (comparison.group) {
    columns.insert(columns.begin() + 3, {.title = "", .name = "group", .exact_only = true});
  }
  if (comparison.files) {
    columns.push_back({.title = "before", .name = "other_mean", .number = true});
    columns.push_back({.title = "after", .name = "mean", .number = true});
  } else {
    columns.push_back({.title = "rank", .name = "rank", .number = true});
    columns.push_back(exact("rank_low"));
    columns.push_back(exact("rank_high"));
    columns.push_back({.title = "mean", .name = "mean", .number = true});
    columns.push_back(exact("other_mean"));
    columns.push_back({.title = "against", .name = "against"});
  }
  columns.insert(columns.end(), {{.title = "difference", .name = "difference", .number = true},
                                 {.title = "95 %", .name = "difference_low", .number = true},
                                 exact("difference_high"),
                                 {.title = "p", .name = "p", .number = true},
                                 {.title = "detectable", .name = "detectable", .number = true},
                                 {.title = "finding", .name = "finding"},
                                 exact("p_alone"),
                                 exact("outside_margin_p"),
                                 exact("outside_margin_p_alone"),
                                 {.title = "", .name = "stores_more", .exact_only = true}});
  return columns;
}

Entry hidden(double value) {
  return {"", number_entry(value, 0).exact};
}

std::vector<Entry> entries_of(const Comparison& comparison, const ComparedSpec& row) {
  const Measure& measure = comparison.measure;
  const PairedTest& test = row.test;
  const std::string pairs = std::to_string(test.pairs);
  std::vector<Entry> entries = {{row.name, row.name},
                                {"", row.canonical},
                                {"", std::string(measure.name)},
                                {row.budget, row.budget == "-" ? "" : row.budget},
                                test.pairs == 0 ? Entry{"-", ""} : Entry{pairs, pairs}};
  if (comparison.layer) {
    entries.insert(entries.begin() + 3, {"", std::to_string(*comparison.layer)});
  }
  if (comparison.group) entries.insert(entries.begin() + 3, {"", *comparison.group});
  if (comparison.files) {
    entries.push_back(entry_of(measure, row.other_mean));
    entries.push_back(entry_of(measure, row.mean));
  } else {
    entries.push_back(rank_entry(row.rank));
    entries.push_back(hidden(row.rank.low));
    entries.push_back(hidden(row.rank.high));
    entries.push_back(entry_of(measure, row.mean));
    entries.push_back(hidden(row.other_mean));
    entries.push_back({row.other.empty() ? "-" : row.other, row.other});
  }
  const std::string finding(finding_word(comparison, row));
  const Interval& difference = test.difference;
  entries.insert(entries.end(), {signed_entry(measure, difference.mean),
                                 span_entry(measure, difference.low, difference.high),
                                 hidden(difference.high),
                                 p_entry(row.p),
                                 entry_of(measure, test.detectable),
                                 {finding, finding},
                                 hidden(test.p),
                                 hidden(row.outside_margin_p),
                                 hidden(test.outside_margin_p),
                                 {"", row.stores_more ? "yes" : "no"}});
  return entries;
}

bool any(const Comparison& comparison, Finding finding) {
  return std::ranges::any_of(comparison.rows, [&](const ComparedSpec& row) {
    return row.finding == finding && row.test.pairs > 0;
  });
}

// Those of the rows that store more than a budget which others keep to: "a, b, c, ...".
std::string storing_more(const Comparison& comparison) {
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const ComparedSpec& row : comparison.rows) {
    const bool apart =
        row.stores_more && std::ranges::any_of(comparison.rows, [&](const ComparedSpec& other) {
          return other.budget == row.budget && !other.stores_more;
        });
    if (apart && ++count <= 3) names.push_back(row.name);
  }
  return join(names, ", ") + (count > 3 ? ", ..." : "");
}

// By MeasuredIn.
constexpr std::array<std::string_view, 4> few_words = {"few texts", "few texts", "few items",
                                                       "few runs"};

struct Sentences {
  std::string text{};

  void say(const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; }
};

bool is_tested(const Comparison& comparison) {
  return std::ranges::any_of(comparison.rows,
                             [](const ComparedSpec& row) { return !std::isnan(row.p); });
}

// What the findings of the rows mean.
void say_findings(const Comparison& comparison, Sentences& words) {
  const std::string margin = shortest(comparison.margin);
  const std::string level = shortest(100 * comparison.options.level) + " %";
  const std::string units(comparison.measure.units());
  if (any(comparison, Finding::higher) || any(comparison, Finding::lower)) {
    words.say("Better, worse: the difference is significant at a level of " + level +
              " (test with random signs over " + units + "), and equality within " + margin +
              " is not shown.");
  }
  if (any(comparison, Finding::equal)) {
    words.say("Equal: the difference is shown to be smaller than " + margin +
              " (two one-sided t-tests, " + level + ").");
  }
  if (any(comparison, Finding::not_shown)) {
    words.say(
        "Not shown: neither a difference nor equality is; a difference of the size in the column "
        "detectable would have been found in about " +
        std::string(comparison.texts < 8 ? "half of" : "3 of 4") + " such samples.");
  }
  if (any(comparison, Finding::same)) {
    words.say(comparison.files ? "Same: all values are equal to the last bit."
                               : "Same: all values are equal to seven digits.");
  }
  if (any(comparison, Finding::few)) {
    words.say("Few " + units + ": fewer than " + std::to_string(fewest_pairs) +
              " say nothing of other " + units + "; the difference is that of these.");
  }
}

void say_how_tested(const Comparison& comparison, Sentences& words) {
  if (is_tested(comparison) && comparison.tests > 1) {
    words.say("P-values are corrected for " + std::to_string(comparison.tests) +
              " tests: those of differences by the " +
              (comparison.texts > counted_texts ? "least p-value" : "largest statistic") +
              " under common signs, those of equality by Holm's method. The intervals are not "
              "corrected.");
  }
  const double least =
      std::ldexp(2.0, -static_cast<int>(std::min<std::size_t>(comparison.texts, 64)));
  if (comparison.texts >= fewest_pairs && least > comparison.options.level) {
    words.say("With " + std::to_string(comparison.texts) + " " +
              std::string(comparison.measure.units()) + " no p-value is at most " +
              shortest(comparison.options.level) + ".");
  }
}

// What the specs of one file are compared and ranked with.
void say_how_compared(const Comparison& comparison, Sentences& words) {
  const std::string complete = "with " + comparison.complete + ", which keeps every token.";
  if (comparison.with_best) {
    words.say(
        "Each is compared with the best of its budget" +
        (comparison.complete.empty() ? "." : "; one that has its budget to itself, " + complete));
    if (is_tested(comparison)) {
      words.say("The best was selected by the same " + std::string(comparison.measure.units()) +
                ", so that all pairs of a budget count as tests.");
    }
  } else if (!comparison.complete.empty()) {
    words.say("Each is compared " + complete);
  }
  const std::string apart = storing_more(comparison);
  if (!apart.empty()) {
    words.say("Caches that store more than their budget are ranked apart: " + apart + ".");
  }
  const auto other_budget = [&](const ComparedSpec& row) {
    return row.budget != comparison.rows.front().budget;
  };
  if (std::ranges::any_of(comparison.rows, other_budget)) {
    words.say("Ranks are among the specs of one budget.");
  }
}

}  // namespace

std::string Comparison::title() const {
  return std::string(measure.title) + (layer ? ", layer " + std::to_string(*layer) : "") +
         (group ? ", group " + printable_line(*group) : "");
}

std::string_view finding_word(const Comparison& comparison, const ComparedSpec& row) {
  const bool better = (row.finding == Finding::higher) == comparison.measure.more_is_better;
  switch (row.finding) {
    case Finding::same:
      return "same";
    case Finding::few:
      return few_words[static_cast<std::size_t>(comparison.measure.in)];
    case Finding::equal:
      return "equal";
    case Finding::not_shown:
      return row.test.pairs == 0 ? "" : "not shown";
    case Finding::higher:
    case Finding::lower:
      return better ? "better" : "worse";
  }
  return "";
}

Table table_of(const Comparison& comparison) {
  Table table{.columns = columns_of(comparison), .rows = {}};
  for (const ComparedSpec& row : comparison.rows) {
    table.rows.push_back(entries_of(comparison, row));
  }
  return table;
}

std::string words_of(const Comparison& comparison) {
  Sentences words;
  say_findings(comparison, words);
  say_how_tested(comparison, words);
  if (!comparison.files) say_how_compared(comparison, words);
  for (const std::string& sentence : comparison.left_out) words.say(sentence + ".");
  return words.text;
}

std::string to_json_lines(const Comparison& comparison) {
  const Table table = table_of(comparison);
  std::string lines;
  for (const std::vector<Entry>& row : table.rows) {
    JsonObject object;
    object.add("type", comparison.files ? "file_comparison" : "spec_comparison");
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Column& column = table.columns[i];
      const bool number = column.number && column.name != "budget";
      if (!number) {
        object.add(column.name, std::string_view(row[i].exact));
      } else {
        object.add_raw(column.name, row[i].exact.empty() ? "null" : row[i].exact);
      }
    }
    object.add("margin", comparison.margin);
    object.add("level", comparison.options.level);
    object.add("tests", std::uint64_t{comparison.tests});
    lines += object.text() + "\n";
  }
  return lines;
}

}  // namespace kv::reports

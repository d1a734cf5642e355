// Comparisons over texts: two files spec by spec, or the specs of one file with each other.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/numbers/paired.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

struct CompareOptions {
  // Differences within it count as equal, in the unit of the measure; nullopt: usual_margin().
  std::optional<double> margin{};
  double level = 0.05;  // of each finding, over all tests of a measure
  // Canonical texts of specs: each spec is compared with the one of its budget, or with the only
  // one. Empty: answers to items with the complete cache (see complete_cache()), where it has
  // answered; all else with the best of its budget, and with the complete cache if it has its
  // budget to itself.
  std::vector<std::string> against{};
};

// 0.01, which no time and no number of bytes would fit: of timings a twentieth of the mean over all
// specs, to two digits.
double usual_margin(const Measure& measure, const MeasuredTexts& all);

// One spec with another value for the same texts.
struct ComparedSpec {
  std::string name;  // see reports/numbers/row_names.h
  std::string canonical;
  std::string budget;
  bool stores_more = false;    // MeasuredSpec::stores_more
  std::string other;           // what it is compared with: a name; empty: itself in the other file
  Interval rank{};             // among the specs of its budget, 1 for the best; NaN of two files
  double mean = not_measured;  // over the texts that both have
  double other_mean = not_measured;
  PairedTest test{};        // of mean - other_mean
  double p = not_measured;  // corrected for all tests of the measure, as is the next
  double outside_margin_p = not_measured;
  Finding finding = Finding::not_shown;
  bool same_queries = true;  // no: means of its group are over queries that begin elsewhere
  bool same_draws = true;    // no: some text has no seed in both files
  bool grown = false;        // it stores more than its budget in the second file only
};

// All comparisons of one measure.
struct Comparison {
  Measure measure;
  CompareOptions options;
  double margin = 0.01;
  std::vector<ComparedSpec> rows{};
  std::optional<std::size_t> layer{};  // whose heads alone are compared
  std::optional<std::string> group{};  // whose items alone are compared
  std::size_t texts = 0;               // that are in both files, or in the one
  std::size_t tests = 0;               // for which p-values are corrected
  bool files = false;                  // two files are compared, not specs
  bool with_best = false;              // specs are compared with the best of their budget
  // The name of the complete cache, if specs are compared with it and options.against is empty.
  std::string complete{};
  // As sentences: specs, texts, values and seeds that the second file lacks.
  std::vector<std::string> lost{};
  std::string grown{};  // a sentence: specs that have begun to store more than their budget
  // As sentences: what is lost, specs and texts that only one side has, models that differ, and
  // means over other queries.
  std::vector<std::string> left_out{};

  // Whether the row is worse than the other one: its value for other texts, as was shown, or, with
  // too few texts for that and the same draws, beyond the margin on these; or because it has begun
  // to store more than its budget.
  [[nodiscard]] bool worse(const ComparedSpec& row) const;

  // The measure's title, with the layer or the group if there is one.
  [[nodiscard]] std::string title() const;
};

// `after` beside `before`: the differences are after - before.
Comparison compare_files(const MeasuredTexts& before,
                         const MeasuredTexts& after,
                         const Measure& measure,
                         const CompareOptions& options);

// Whether the second of two files is worse than the first in anything; of one file's specs never.
bool any_worse(std::span<const Comparison> comparisons);

// The place among all.specs of the one that evicts nothing and reads all, under the policy `dense`.
// Among several it is the only one that names no storage. nullopt if there is none.
std::optional<std::size_t> complete_cache(const MeasuredTexts& all);

// The names of two of these specs that are ranked with each other: of one budget, and alike in
// whether they store more. Empty if there are none.
std::vector<std::string> rivals_among(const std::vector<std::string>& canonicals,
                                      const MeasuredTexts& all);

// The specs of each budget as options.against says, over the texts that both have. Caches
// that store more than their budget are compared among themselves. Specs that have nothing to be
// compared with are left out. If no spec of options.against has a value, nothing is compared,
// and `left_out` says why.
Comparison compare_specs(const MeasuredTexts& all,
                         const Measure& measure,
                         const CompareOptions& options);

// "better", "worse", "equal", "same", "not shown" or "few texts".
std::string_view finding_word(const Comparison& comparison, const ComparedSpec& row);

Table table_of(const Comparison& comparison);

// What the words of the table mean, and what was left out.
std::string words_of(const Comparison& comparison);

// One line of JSON per row.
std::string to_json_lines(const Comparison& comparison);

}  // namespace kv::reports

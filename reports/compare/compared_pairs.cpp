#include "kvcheck/reports/compare/compared_pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "kvcheck/reports/numbers/paired_shares.h"
#include "kvcheck/reports/numbers/row_names.h"

namespace kv::reports {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? not_measured : sum / static_cast<double>(values.size());
}

}  // namespace

ComparedSpec row_of(const MeasuredSpec& spec, const std::string& name) {
  return {.name = name,
          .canonical = spec.canonical,
          .budget = spec.spec.budget_text(),
          .stores_more = spec.stores_more,
          .other = {}};
}

std::vector<std::string> names_of(const MeasuredTexts& all) {
  std::vector<Spec> specs;
  for (const MeasuredSpec& spec : all.specs) specs.push_back(spec.spec);
  return names_of(specs);
}

double usual_margin(const Measure& measure, const MeasuredTexts& all) {
  if (measure.in != MeasuredIn::timings) return 0.01;
  std::vector<double> values;
  for (const MeasuredSpec& spec : all.specs) {
    values.insert(values.end(), spec.values.begin(), spec.values.end());
  }
  const double share = overall(values) / 20;
  if (!(share > 0)) return 0.01;
  const double digit = std::pow(10, std::floor(std::log10(share)) - 1);
  return std::round(share / digit) * digit;
}

std::string named_at_budget(const MeasuredSpec& spec, const std::string& name) {
  const std::string budget = spec.spec.budget_text();
  return name + (budget == "-" ? "" : " at " + budget);
}

double overall(const std::vector<double>& values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double v) { return !std::isnan(v); });
  return mean_of(known);
}

std::vector<double> test_pairs(ComparedSpec& row,
                               const std::vector<double>& values,
                               const std::vector<double>& others,
                               const Comparison& comparison) {
  std::vector<double> mine;
  std::vector<double> theirs;
  std::vector<double> by_text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    by_text.push_back(values[i] - others[i]);
    if (std::isnan(by_text.back())) continue;
    mine.push_back(values[i]);
    theirs.push_back(others[i]);
  }
  row.mean = mean_of(mine);
  row.other_mean = mean_of(theirs);
  if (comparison.measure.share_of_answers) {
    row.test = paired_share_test(mine, theirs, comparison.margin);
    return by_text;
  }
  std::vector<double> differences(mine.size());
  std::ranges::transform(mine, theirs, differences.begin(), std::minus<>());
  row.test = paired_test(differences, comparison.margin);
  return by_text;
}

std::vector<double> filled(std::vector<double> values) {
  std::ranges::replace_if(
      values, [](double v) { return std::isnan(v); }, 0.0);
  return values;
}

void leave_out(Comparison& comparison,
               const std::vector<std::string>& names,
               const std::string& what,
               const std::string& where) {
  if (names.empty()) return;
  constexpr std::size_t most = 3;
  std::string sentence = std::to_string(names.size()) + " " + what +
                         (names.size() == 1 ? " is " : "s are ") + where + ": " + names[0];
  for (std::size_t i = 1; i < std::min(most, names.size()); ++i) sentence += "; " + names[i];
  comparison.left_out.push_back(sentence + (names.size() > most ? "; ..." : ""));
}

void lose(Comparison& comparison,
          const std::vector<std::string>& names,
          const std::string& what,
          const std::string& where) {
  leave_out(comparison, names, what, where);
  if (!names.empty()) comparison.lost.push_back(comparison.left_out.back());
}

void find(Comparison& comparison, const Family& family) {
  std::vector<PairedTest> tests;
  std::vector<double> outside;
  std::vector<double> p;
  const std::vector<double> corrected = corrected_flips(family.columns, family.contrasts);
  for (const ComparedSpec& row : comparison.rows) {
    if (row.test.pairs == 0) continue;
    const bool few = row.test.pairs < fewest_pairs;
    p.push_back(few ? not_measured : corrected[family.of_row[tests.size()]]);
    outside.push_back(row.test.outside_margin_p);
    tests.push_back(row.test);
  }
  comparison.tests = family.contrasts.size();
  outside = holm(outside, comparison.tests);
  const auto findings = findings_of(tests, p, outside, comparison.options.level);
  std::size_t i = 0;
  for (ComparedSpec& row : comparison.rows) {
    if (row.test.pairs == 0) continue;
    row.finding = findings[i];
    row.p = p[i];
    row.outside_margin_p = outside[i++];
    row.test.detectable = detectable_among(row.test, comparison.tests, comparison.options.level);
  }
}

}  // namespace kv::reports

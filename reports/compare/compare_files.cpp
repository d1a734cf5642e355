// Two results files, spec by spec.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "kvcheck/reports/compare/compared_pairs.h"

namespace kv::reports {
namespace {

// The values of the spec in the order of `texts`; NaN where they were not measured.
std::vector<double> arranged(const MeasuredTexts& all,
                             const std::vector<double>& values,
                             const std::vector<std::string>& texts) {
  std::vector<double> out;
  for (const std::string& text : texts) {
    const auto at = std::ranges::find(all.texts, text) - all.texts.begin();
    out.push_back(static_cast<std::size_t>(at) < values.size()
                      ? values[static_cast<std::size_t>(at)]
                      : not_measured);
  }
  return out;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

// The names in tables, with budgets, of the specs that the others have not.
std::vector<std::string> missing_specs(const MeasuredTexts& some,
                                       const std::vector<std::string>& others) {
  std::vector<std::string> missing;
  const std::vector<std::string> names = names_of(some);
  for (std::size_t i = 0; i < some.specs.size(); ++i) {
    if (!has(others, some.specs[i].canonical)) {
      missing.push_back(named_at_budget(some.specs[i], names[i]));
    }
  }
  return missing;
}

// The names of the texts that the others have not.
std::vector<std::string> missing_texts(const MeasuredTexts& some, const MeasuredTexts& others) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < some.texts.size(); ++i) {
    if (!has(others.texts, some.texts[i])) missing.push_back(some.names[i]);
  }
  return missing;
}

std::vector<std::string> canonicals_of(const MeasuredTexts& all) {
  std::vector<std::string> names;
  for (const MeasuredSpec& spec : all.specs) names.push_back(spec.canonical);
  return names;
}

}  // namespace

bool Comparison::worse(const ComparedSpec& row) const {
  const bool lower = row.mean < row.other_mean;
  if (row.finding == Finding::few) {
    return lower == measure.more_is_better && std::abs(row.mean - row.other_mean) > margin;
  }
  return row.finding == (measure.more_is_better ? Finding::lower : Finding::higher);
}

bool any_worse(std::span<const Comparison> comparisons) {
  return std::ranges::any_of(comparisons, [](const Comparison& one) {
    return one.files &&
           std::ranges::any_of(one.rows, [&](const ComparedSpec& row) { return one.worse(row); });
  });
}

bool any_missing(std::span<const Comparison> comparisons) {
  return std::ranges::any_of(comparisons, [](const Comparison& one) { return one.missing > 0; });
}

Comparison compare_files(const MeasuredTexts& before,
                         const MeasuredTexts& after,
                         const Measure& measure,
                         const CompareOptions& options) {
  Comparison comparison{.measure = measure,
                        .options = options,
                        .margin = options.margin.value_or(usual_margin(measure, before)),
                        .layer = after.layer,
                        .group = after.group,
                        .files = true};
  if ((before.specs.empty() || after.specs.empty()) && measure.name == "loss_over_dense") {
    const std::string file = before.specs.empty() ? "first" : "second";
    comparison.left_out.push_back(std::string(no_dense) + ", which the " + file +
                                  " file does not have");
    return comparison;
  }
  // First, because it may be why texts are in one file only.
  if (!before.weights.empty() && !after.weights.empty() && before.weights != after.weights) {
    comparison.left_out.emplace_back("The weights of the models in the two files are not the same");
  }
  const std::string_view units = measure.units();
  const std::string unit(units.substr(0, units.size() - 1));  // "text" of "texts"
  const auto lost_texts = missing_texts(before, after);
  leave_out(comparison, lost_texts, unit, "in the first file only");
  leave_out(comparison, missing_texts(after, before), unit, "in the second file only");
  const auto old_specs = canonicals_of(before);
  const auto new_specs = canonicals_of(after);
  const auto lost_specs = missing_specs(before, new_specs);
  leave_out(comparison, lost_specs, "spec", "in the first file only");
  comparison.missing = lost_texts.size() + lost_specs.size();
  leave_out(comparison, missing_specs(after, old_specs), "spec", "in the second file only");
  std::vector<std::string> texts;
  std::ranges::copy_if(before.texts, std::back_inserter(texts),
                       [&](const std::string& text) { return has(after.texts, text); });
  comparison.texts = texts.size();
  const std::vector<std::string> names = names_of(after);
  Family family;
  for (std::size_t i = 0; i < after.specs.size(); ++i) {
    const auto old = std::ranges::find(old_specs, after.specs[i].canonical) - old_specs.begin();
    if (static_cast<std::size_t>(old) == old_specs.size()) continue;
    comparison.rows.push_back(row_of(after.specs[i], names[i]));
    family.columns.push_back(filled(test_pairs(
        comparison.rows.back(), arranged(after, after.specs[i].values, texts),
        arranged(before, before.specs[static_cast<std::size_t>(old)].values, texts), comparison)));
    if (comparison.rows.back().test.pairs == 0) {
      comparison.rows.pop_back();
      family.columns.pop_back();
      continue;
    }
    family.of_row.push_back(family.contrasts.size());
    family.contrasts.push_back({.of = family.columns.size() - 1});
  }
  find(comparison, family);
  return comparison;
}

}  // namespace kv::reports

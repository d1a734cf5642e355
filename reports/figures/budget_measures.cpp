#include "kvcheck/reports/figures/budget_measures.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

// Names the lines whose caches are larger than the budget at which they are drawn.
std::string larger_than_budget(const Sweep& sweep, const std::vector<Line>& lines) {
  std::vector<std::string> names;
  for (const Line& line : lines) {
    const auto more = [&](std::size_t s) { return stores_more(sweep.specs[s]); };
    if (std::ranges::any_of(line.specs, more)) names.push_back(line.label);
  }
  if (names.empty()) return "";
  return " Larger than the budget at which they are drawn: " + join(names, ", ") + ".";
}

}  // namespace

Interval BudgetMeasure::of(const SpecSummary& spec) const {
  const Interval& value = spec.after.*metric;
  if (!lost) return value;
  return {.mean = 1 - value.mean, .low = 1 - value.high, .high = 1 - value.low};
}

std::vector<BudgetMeasure> measures_of(const Sweep& sweep, const std::vector<Line>& lines) {
  const bool errors = std::ranges::any_of(lines, [&](const Line& line) {
    return std::isfinite(sweep.specs[line.specs[0]].after.output_error.mean);
  });
  std::vector<BudgetMeasure> measures = {{.metric = &AfterLossSummary::retained_mass,
                                          .name = "retained_mass",
                                          .label = "retained mass",
                                          .short_label = "retained mass"},
                                         {.metric = &AfterLossSummary::retained_mass,
                                          .lost = true,
                                          .logarithmic = true,
                                          .name = "lost_mass",
                                          .label = "lost mass, 1 - retained",
                                          .short_label = "lost mass"}};
  // KL to dense is no third measure: at absolute positions it is -ln(retained mass).
  if (errors) {
    measures.push_back({.metric = &AfterLossSummary::output_error,
                        .logarithmic = true,
                        .name = "output_error",
                        .label = "relative output error",
                        .short_label = "output error"});
  }
  if (sweep.result->top_k > 0) {
    measures.push_back({.metric = &AfterLossSummary::topk_overlap,
                        .name = "topk_overlap",
                        .label = "top-k overlap",
                        .short_label = "top-k overlap"});
  }
  return measures;
}

std::string keep_first(std::size_t panels, std::vector<BudgetMeasure>& measures) {
  std::vector<std::string> others;
  for (std::size_t i = panels; i < measures.size(); ++i) others.emplace_back(measures[i].label);
  measures.resize(std::min(panels, measures.size()));
  return left_out(others);
}

std::string measures_caption(const Sweep& sweep,
                             const std::vector<BudgetMeasure>& measures,
                             const std::vector<Line>& lines,
                             std::string_view bars) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(measures,
                               [&](const BudgetMeasure& one) { return one.name == name; });
  };
  std::string text =
      "Retained mass: the share of dense attention whose keys were still in the cache, mean over "
      "the queries from the first one on that cannot see every token. ";
  if (has("lost_mass")) {
    text += "Lost mass is the rest, on a logarithmic axis, which separates large budgets. ";
  }
  if (has("output_error")) {
    text += "Output error: of the attention output, relative to the dense one. ";
  }
  if (has("topk_overlap")) {
    text += "Top-k overlap: the share of the " + std::to_string(sweep.result->top_k) +
            " largest dense weights that are among the largest of what is left. ";
  }
  return text + "Open-loop replay of " + subject_of(*sweep.result) +
         ". Points are means over query heads and seeds. Bars, on the linear axes" +
         std::string(bars) +
         ", are 95 % t-intervals over the seeds of policies that draw; nothing here says how other "
         "texts differ." +
         larger_than_budget(sweep, lines);
}

}  // namespace kv::reports

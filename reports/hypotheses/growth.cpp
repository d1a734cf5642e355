#include "kvcheck/reports/hypotheses/growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/compare/run_sizes.h"

namespace kv::reports {
namespace {

// By length or budget, the values of all repetitions.
using Points = std::map<std::size_t, std::vector<double>>;

Error no_spec(const Condition& condition) {
  return usage_error("of '" + condition.of + "' is of no spec that was timed so");
}

Error several(const Condition& condition, const MeasuredSpec& spec) {
  return usage_error("of '" + condition.of + "' stands for " + spec.canonical +
                     " and others of its budget; expected one spec");
}

std::vector<double> measured_values(const MeasuredSpec& spec) {
  std::vector<double> values;
  std::ranges::copy_if(spec.values, std::back_inserter(values),
                       [](double value) { return !std::isnan(value); });
  return values;
}

// Adds the values of each spec that the condition's words stand for, under its budget or `length`.
Result<void> add_points(const Condition& condition,
                        const MeasuredTexts& all,
                        std::size_t length,
                        Points& points) {
  for (const MeasuredSpec* const spec : specs_named(condition.of, all)) {
    const std::size_t x = length > 0 ? length : spec->spec.budget;
    if (!points.emplace(x, measured_values(*spec)).second) return several(condition, *spec);
  }
  return {};
}

double slope_of(const std::vector<std::pair<double, double>>& points) {
  double x_mean = 0;
  double y_mean = 0;
  for (const auto& [x, y] : points) {
    x_mean += x / static_cast<double>(points.size());
    y_mean += y / static_cast<double>(points.size());
  }
  double both = 0;
  double squares = 0;
  for (const auto& [x, y] : points) {
    both += (x - x_mean) * (y - y_mean);
    squares += (x - x_mean) * (x - x_mean);
  }
  return both / squares;
}

}  // namespace

Result<std::vector<double>> growth_exponents(const Condition& condition,
                                             std::span<const StoredRun> runs) {
  const Measure& measure = *measure_named(condition.measure);
  Points points;
  const std::vector<std::size_t> lengths =
      condition.length ? std::vector<std::size_t>{*condition.length} : lengths_of(runs);
  for (const std::size_t length : lengths) {
    const MeasuredTexts all = measured(runs, measure, {.length = length});
    const auto added = add_points(condition, all, condition.length ? 0 : length, points);
    if (!added) return added.error();
  }
  if (points.empty()) return no_spec(condition);
  if (points.size() < 2) {
    return usage_error("'" + condition.results + "' has '" + condition.of + "' at one " +
                       (condition.length ? "budget" : "length") +
                       " only, which shows no growth; expected at least two");
  }
  std::vector<double> exponents;
  const std::size_t repetitions = points.begin()->second.size();
  for (std::size_t i = 0; i < repetitions; ++i) {
    std::vector<std::pair<double, double>> logarithms;
    for (const auto& [x, values] : points) {
      if (values.size() != repetitions) {
        return usage_error("'" + condition.results + "' has " + std::to_string(repetitions) +
                           " and " + std::to_string(values.size()) + " runs of '" + condition.of +
                           "'; expected as many of each");
      }
      logarithms.emplace_back(std::log(static_cast<double>(x)), std::log(values[i]));
    }
    exponents.push_back(slope_of(logarithms));
  }
  return exponents;
}

}  // namespace kv::reports

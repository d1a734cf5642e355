#include "kvcheck/reports/tables/summary_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/tables/bounds_table.h"

namespace kv::reports {
namespace {

constexpr const char* absent = "-";

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return absent;
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

std::string exact(double value) {
  return std::isfinite(value) ? shortest(value) : "";
}

Entry budget_of(const Spec& spec) {
  const std::string text = std::to_string(spec.budget);
  return spec.bounded() ? Entry{text, text} : Entry{absent, ""};
}

std::vector<Column> columns(bool oracle) {
  return {{.title = "policy", .name = "policy"},
          {.title = "", .name = "spec", .exact_only = true},
          {.title = "budget", .name = "budget", .number = true},
          {.title = "", .name = "seeds", .number = true, .exact_only = true},
          {.title = "retained mass", .name = "retained_mass", .number = true},
          {.title = "of optimum", .name = "optimum_share", .number = true, .exact_only = !oracle},
          {.title = "", .name = "retained_mass_low", .number = true, .exact_only = true},
          {.title = "", .name = "retained_mass_high", .number = true, .exact_only = true},
          {.title = "", .name = "retained_mass_seeds_interval", .number = true, .exact_only = true},
          {.title = "", .name = "optimum", .number = true, .exact_only = true},
          {.title = "", .name = "per_step_bound", .number = true, .exact_only = true},
          {.title = "", .name = "greedy_oracle", .number = true, .exact_only = true},
          {.title = "KL, nats", .name = "kl_to_dense", .number = true},
          {.title = "top-k", .name = "topk_overlap", .number = true},
          {.title = "output error", .name = "output_error", .number = true},
          {.title = "visible", .name = "visible_mean", .number = true},
          {.title = "stored peak", .name = "stored_peak", .number = true},
          {.title = "evictions", .name = "evictions", .number = true},
          {.title = "KiB", .name = "kib_peak", .number = true}};
}

std::vector<Entry> row_of(const SpecSummary& s) {
  const std::string seeds = std::to_string(s.cells.size());
  return {{s.label, s.label},
          {"", s.canonical},
          budget_of(s.spec),
          {seeds, seeds},
          interval_entry(s.retained_mass),
          optimum_share_entry(s),
          number_entry(s.retained_mass.low, 4),
          number_entry(s.retained_mass.high, 4),
          number_entry(s.retained_mass_seeds.half_width(), 4),
          number_entry(s.oracle.optimum, 4),
          number_entry(s.oracle.per_step, 4),
          number_entry(s.oracle.greedy, 4),
          number_entry(s.kl_to_dense.mean, 4),
          number_entry(s.topk_overlap.mean, 4),
          number_entry(s.output_error.mean, 4),
          number_entry(s.visible_mean, 1),
          number_entry(s.stored_peak, 0),
          number_entry(s.evictions, 0),
          number_entry(s.bytes_peak / 1024, 1)};
}

}  // namespace

Entry number_entry(double value, int digits) {
  return {fixed(value, digits), exact(value)};
}

Entry interval_entry(const Interval& interval) {
  std::string text = fixed(interval.mean, 4);
  if (std::isfinite(interval.low)) text += " \xC2\xB1 " + fixed(interval.half_width(), 4);
  return {text, exact(interval.mean)};
}

Entry optimum_share_entry(const SpecSummary& summary) {
  if (std::isfinite(summary.optimum_share)) return number_entry(summary.optimum_share, 4);
  if (!std::isfinite(summary.least_share)) return {absent, ""};
  return {"\xE2\x89\xA5 " + fixed(summary.least_share, 4), ""};
}

Table summary_table(const ReplayResult& result) {
  std::vector<SpecSummary> summaries = summarise(result);
  // NaN has no place in an order, so a mass that was not measured is sorted last: masses are at
  // most 1, so every other key is below 2.
  const auto key = [](const SpecSummary& s) {
    return std::isfinite(s.retained_mass.mean) ? -s.retained_mass.mean : 2.0;
  };
  std::ranges::stable_sort(summaries, {}, key);
  Table table{.columns = columns(has_bounds(result)), .rows = {}};
  for (const SpecSummary& summary : summaries) table.rows.push_back(row_of(summary));
  return table;
}

Table specs_table(const ReplayResult& result) {
  Table table{.columns = {{.title = "policy", .name = "policy"},
                          {.title = "budget", .name = "budget", .number = true},
                          {.title = "seeds", .name = "seeds", .number = true},
                          {.title = "full spec", .name = "spec"}},
              .rows = {}};
  for (const SpecSummary& s : summarise(result)) {
    const std::string seeds = std::to_string(s.cells.size());
    table.rows.push_back(
        {{s.label, s.label}, budget_of(s.spec), {seeds, seeds}, {s.canonical, s.canonical}});
  }
  return table;
}

std::string summary_text(const ReplayResult& result, std::size_t width) {
  return to_text(summary_table(result), width) +
         "\xC2\xB1: 95 % t-interval of the mean over query heads, seeds averaged first; "
         "it says nothing about other texts.\n" +
         bounds_text(result, width);
}

}  // namespace kv::reports

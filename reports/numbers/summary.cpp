#include "kvcheck/reports/numbers/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "kvcheck/reports/numbers/row_names.h"

namespace kv::reports {
namespace {

using Metric = double HeadMetrics::*;

double mean_over_heads(const CellResult& cell, Metric metric) {
  if (cell.summary) return cell.summary->means.*metric;
  double sum = 0;
  for (const HeadResult& head : cell.heads) sum += head.metrics.*metric;
  return cell.heads.empty() ? not_measured : sum / static_cast<double>(cell.heads.size());
}

Interval over_seeds(const ReplayResult& result, const SpecSummary& summary, Metric metric) {
  std::vector<double> means;
  for (const std::size_t index : summary.cells) {
    means.push_back(mean_over_heads(result.cells[index], metric));
  }
  return t_interval(means);
}

// A summary has no heads, and so no interval. Cells of one spec have different numbers of heads
// only in a damaged file; the minimum keeps every index valid.
Interval over_heads(const ReplayResult& result, const SpecSummary& summary, Metric metric) {
  if (result.cells[summary.cells[0]].summary) {
    return {.mean = over_seeds(result, summary, metric).mean};
  }
  std::vector<double> means(result.cells[summary.cells[0]].heads.size());
  for (const std::size_t index : summary.cells) {
    const CellResult& cell = result.cells[index];
    const std::size_t heads = std::min(means.size(), cell.heads.size());
    for (std::size_t h = 0; h < heads; ++h) {
      means[h] += cell.heads[h].metrics.*metric;
    }
  }
  for (double& mean : means) mean /= static_cast<double>(summary.cells.size());
  return t_interval(means);
}

// The seeds have the same queries, so their errors do not cancel.
HeadMetrics mean_half_widths(const ReplayResult& result, const SpecSummary& summary) {
  std::array<double, 4> sums{};
  for (const std::size_t index : summary.cells) {
    const std::array<double, 4> of_cell = values_of(result.cells[index].half_widths);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_cell[i];
  }
  for (double& sum : sums) sum /= static_cast<double>(summary.cells.size());
  return metrics_of(sums);
}

AfterLossSummary after_of(const ReplayResult& result, const SpecSummary& summary) {
  const AfterLoss after(summary.spec, result.trace);
  std::vector<HeadMetrics> seeds;
  for (const std::size_t index : summary.cells) {
    seeds.push_back(after.of(means_of(result.cells[index])));
  }
  const auto interval = [&](Metric metric) {
    std::vector<double> means;
    for (const HeadMetrics& seed : seeds) means.push_back(seed.*metric);
    return t_interval(means);
  };
  return {.first = after.first(),
          .retained_mass = interval(&HeadMetrics::retained_mass),
          .kl_to_dense = interval(&HeadMetrics::kl_to_dense),
          .topk_overlap = interval(&HeadMetrics::topk_overlap),
          .output_error = interval(&HeadMetrics::output_error),
          .half_widths = after.half_widths(summary.half_widths),
          .oracle = after_loss(summary.oracle, after)};
}

// A lower limit of the share needs an upper bound of what is possible. With shared budgets the sum
// of the optima is one; without an optimum the per-step bound is.
double least_share_of(const Spec& spec, double retained, const OracleMeans& oracle) {
  const bool loose = spec.budgets.shared() && std::isfinite(oracle.optimum);
  return retained / (loose ? oracle.optimum : oracle.per_step);
}

void add_sizes(SpecSummary& summary, const CellSizes& sizes) {
  summary.visible_mean += sizes.visible_mean;
  summary.stored_peak += static_cast<double>(sizes.stored_peak);
  summary.evictions += static_cast<double>(sizes.evictions);
  summary.bytes_peak +=
      sizes.bytes_peak == 0 ? not_measured : static_cast<double>(sizes.bytes_peak);
}

void finish(const ReplayResult& result, SpecSummary& summary) {
  summary.retained_mass = over_heads(result, summary, &HeadMetrics::retained_mass);
  summary.retained_mass_seeds = over_seeds(result, summary, &HeadMetrics::retained_mass);
  summary.kl_to_dense = over_heads(result, summary, &HeadMetrics::kl_to_dense);
  summary.topk_overlap = over_heads(result, summary, &HeadMetrics::topk_overlap);
  summary.output_error = over_heads(result, summary, &HeadMetrics::output_error);
  summary.half_widths = mean_half_widths(result, summary);
  summary.decided_on_sample = std::ranges::any_of(
      summary.cells, [&](std::size_t index) { return result.cells[index].decided_on_sample; });
  // The oracle does not depend on the seed, so the first cell has the bounds of all.
  summary.oracle = oracle_of(result.cells[summary.cells[0]]);
  const double retained = summary.retained_mass.mean;
  const OracleMeans& oracle = summary.oracle;
  summary.optimum_share = optimum_share_of(summary.spec, retained, oracle.optimum);
  summary.least_share = least_share_of(summary.spec, retained, oracle);
  summary.after = after_of(result, summary);
  AfterLossSummary& after = summary.after;
  const double retained_after = after.retained_mass.mean;
  after.optimum_share = optimum_share_of(summary.spec, retained_after, after.oracle.optimum);
  after.least_share = least_share_of(summary.spec, retained_after, after.oracle);
  summary.visible_mean = summary.stored_peak = summary.evictions = summary.bytes_peak = 0;
  for (const std::size_t index : summary.cells) {
    add_sizes(summary, sizes_of(result.cells[index]));
  }
  // Divides once at the end: if shares were added, rounding could make the mean of equal sizes
  // differ from them.
  for (double* mean :
       {&summary.visible_mean, &summary.stored_peak, &summary.evictions, &summary.bytes_peak}) {
    *mean /= static_cast<double>(summary.cells.size());
  }
}

// The memory of the bounds of a unit's pages, in rows: the least and the greatest number of every
// channel take as much as a key and a value.
std::uint64_t bounds_rows(const Spec& spec, const UnitResult& unit) {
  const TopPages& sizes = spec.top_pages;
  if (!spec.selects() || unit.layer < sizes.dense_layers) return 0;
  return (unit.stored_peak + sizes.page - 1) / sizes.page;
}

}  // namespace

CellSizes sizes_of(const CellResult& cell) {
  if (cell.summary) return cell.summary->sizes;
  if (cell.units.empty()) return {};
  CellSizes sizes{.visible_mean = 0, .stored_mean = 0, .kept_at_end = 0};
  double lived = 0;
  std::uint64_t rows = 0;
  for (const UnitResult& unit : cell.units) {
    sizes.visible_mean += unit.visible_mean;
    sizes.stored_mean += unit.stored_mean;
    sizes.visible_peak = std::max(sizes.visible_peak, unit.visible_peak);
    sizes.stored_peak = std::max(sizes.stored_peak, unit.stored_peak);
    sizes.kept_at_end += static_cast<double>(unit.kept_at_end);
    sizes.evictions += unit.evictions;
    sizes.trims += unit.trims;
    sizes.moved += unit.moved;
    rows += unit.stored_peak + bounds_rows(cell.cell.spec, unit);
    // The mean lifetime of a unit without evictions is NaN.
    if (unit.evictions > 0) lived += unit.lifetime_mean * static_cast<double>(unit.evictions);
  }
  for (double* mean : {&sizes.visible_mean, &sizes.stored_mean, &sizes.kept_at_end}) {
    *mean /= static_cast<double>(cell.units.size());
  }
  if (sizes.evictions > 0) sizes.lifetime_mean = lived / static_cast<double>(sizes.evictions);
  sizes.bytes_peak = rows * cell.bytes_per_row;
  return sizes;
}

OracleMeans oracle_of(const CellResult& cell) {
  if (cell.bounds.empty()) return {};
  OracleMeans means{.optimum = 0, .per_step = 0, .greedy = 0};
  double heads = 0;
  for (const UnitBounds& unit : cell.bounds) {
    const auto weight = static_cast<double>(unit.heads);
    means.optimum += weight * unit.optimum;
    means.per_step += weight * unit.per_step;
    means.greedy += weight * unit.greedy;
    heads += weight;
  }
  for (double* const mean : {&means.optimum, &means.per_step, &means.greedy}) *mean /= heads;
  return means;
}

HeadMetrics means_of(const CellResult& cell) {
  return {.retained_mass = mean_over_heads(cell, &HeadMetrics::retained_mass),
          .kl_to_dense = mean_over_heads(cell, &HeadMetrics::kl_to_dense),
          .topk_overlap = mean_over_heads(cell, &HeadMetrics::topk_overlap),
          .output_error = mean_over_heads(cell, &HeadMetrics::output_error)};
}

void keep_summary(CellResult& cell) {
  if (cell.summary) return;
  cell.summary = CellSummary{.means = means_of(cell),
                             .sizes = sizes_of(cell),
                             .heads = cell.heads.size(),
                             .units = cell.units.size()};
  if (!cell.bounds.empty()) {
    const OracleMeans means = oracle_of(cell);
    UnitBounds all = cell.bounds.front();
    all.heads = 1;  // the weight of a mean: with another one, rounding could change the last bit
    all.optimum = means.optimum;
    all.per_step = means.per_step;
    all.greedy = means.greedy;
    cell.bounds = {all};
  }
  cell.heads = {};
  cell.units = {};
  cell.series = {};
  cell.kept = {};
  cell.lifetimes = {};
  cell.residency = {};
}

double optimum_share_of(const Spec& spec, double retained_mass, double optimum) {
  return spec.budgets.shared() ? not_measured : retained_mass / optimum;
}

OracleMeans after_loss(const OracleMeans& bounds, const AfterLoss& after) {
  return {.optimum = after.share(bounds.optimum),
          .per_step = after.share(bounds.per_step),
          .greedy = after.share(bounds.greedy)};
}

bool stores_more(const SpecSummary& summary) {
  return !summary.spec.bounded() || summary.stored_peak > summary.spec.budget + 1.0;
}

bool stores_more(const Spec& spec) {
  const bool late = spec.timing == Timing::lazy && spec.slack > 1;
  const bool chunks = spec.timing == Timing::attend_then_trim && spec.chunk > 1;
  return !spec.bounded() || spec.phases.compress != Phases::Compress::always || late || chunks ||
         spec.selects();
}

void sort_for_tables(std::vector<SpecSummary>& summaries) {
  // NaN has no place in an order, so a mass that was not measured is sorted last: masses are at
  // most 1, so every other key is below 2.
  std::ranges::stable_sort(summaries, {}, [](const SpecSummary& one) {
    const double mass = one.after.retained_mass.mean;
    return std::tuple(stores_more(one), one.spec.budget, std::isfinite(mass) ? -mass : 2.0);
  });
}

bool kl_is_own_number(const Spec& spec) {
  return are_ranks(spec.positions);
}

std::vector<SpecSummary> summarise(const ReplayResult& result) {
  std::vector<SpecSummary> summaries;
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const Spec& spec = result.cells[i].cell.spec;
    std::string canonical = spec.canonical();
    const auto [at, added] = place.emplace(canonical, summaries.size());
    if (added) {
      summaries.push_back(
          {.spec = spec, .name = row_name(spec), .canonical = std::move(canonical), .cells = {}});
    }
    summaries[at->second].cells.push_back(i);
  }
  for (SpecSummary& summary : summaries) finish(result, summary);
  return summaries;
}

}  // namespace kv::reports

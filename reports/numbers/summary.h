// Summaries: one cell in one row of numbers, and one spec's seeds together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// The sizes and counts of one cell over all its units. Sizes are in rows (tokens) of one unit.
struct CellSizes {
  double visible_mean = not_measured;  // mean over units of each unit's mean over queries
  double stored_mean = not_measured;
  std::uint64_t visible_peak = 0;  // the largest unit's
  std::uint64_t stored_peak = 0;
  double kept_at_end = not_measured;  // mean over units
  std::uint64_t evictions = 0;        // summed over units, as are trims and moved
  std::uint64_t trims = 0;
  std::uint64_t moved = 0;
  double lifetime_mean = not_measured;  // over all evicted tokens of all units
  std::uint64_t bytes_peak = 0;         // keys and values: sum over units of the peak; 0 if unknown
};

CellSizes sizes_of(const CellResult& cell);

// Means over a cell's heads.
HeadMetrics means_of(const CellResult& cell);

// The mass that caches of the cell's sizes could have retained: means over its query heads. NaN if
// the bounds were not requested; the optimum is NaN too if the stream was too long for it.
struct OracleMeans {
  double optimum = not_measured;
  double per_step = not_measured;
  double greedy = not_measured;
};

OracleMeans oracle_of(const CellResult& cell);

// All seeds of one spec. Intervals are over query heads, after each head was averaged over the
// seeds. They describe the mean over these heads; heads are not independent samples.
struct SpecSummary {
  Spec spec;
  std::string label;  // among the labels of its report: see reports/numbers/labels.h
  std::string canonical;
  std::vector<std::size_t> cells{};  // indices into ReplayResult::cells, one per seed
  Interval retained_mass{};
  Interval retained_mass_seeds{};  // over seeds, each the mean over heads; NaN with one seed
  Interval kl_to_dense{};
  Interval topk_overlap{};
  Interval output_error{};
  OracleMeans oracle{};                 // the same for all seeds
  double optimum_share = not_measured;  // retained mass / optimum, see optimum_share_of()
  double least_share = not_measured;    // a lower limit of that share, by the bound that is known
  double visible_mean = not_measured;   // means over seeds of CellSizes
  double stored_peak = not_measured;
  double evictions = not_measured;
  double bytes_peak = not_measured;  // NaN if unknown
};

// What a spec retains as a share of the optimum. NaN if heads share their budget: then each head
// has a bound of its own, no cache reaches all of them at once, and a share would look worse than
// it is.
double optimum_share_of(const Spec& spec, double retained_mass, double optimum);

// One per spec, in the order of the cells.
std::vector<SpecSummary> summarise(const ReplayResult& result);

}  // namespace kv::reports

// Summaries: one cell in one row of numbers, and one spec's seeds together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// The sizes and counts of one cell over all its units, or those of its summary.
CellSizes sizes_of(const CellResult& cell);

// Means over a cell's heads, or those of its summary.
HeadMetrics means_of(const CellResult& cell);

// Replaces what the cell holds of heads, units, tokens and queries by one row of the same means and
// sizes, and the bounds of its units by their mean: sizes_of, means_of and oracle_of remain the
// same, to the bit.
void keep_summary(CellResult& cell);

// The mass that caches of the cell's sizes could have retained: means over its query heads. NaN if
// the bounds were not requested; the optimum is NaN too if the stream was too long for it.
struct OracleMeans {
  double optimum = not_measured;
  double per_step = not_measured;
  double greedy = not_measured;
};

OracleMeans oracle_of(const CellResult& cell);

// The bounds over the queries after the first loss, where every cache loses something.
OracleMeans after_loss(const OracleMeans& bounds, const AfterLoss& after);

// All seeds of one spec, over the queries after the first loss. Intervals are over seeds, each the
// mean over heads: one text has no interval, because its heads are not independent samples.
struct AfterLossSummary {
  Position first = 0;  // the first query that counts; the trace's length if there is none
  Interval retained_mass{};
  Interval kl_to_dense{};
  Interval topk_overlap{};
  Interval output_error{};
  // Half the widths of the 95 % intervals that follow from which queries are recorded; see
  // CellResult::half_widths. Of several seeds, which share these queries, the mean: no less than
  // that of their mean.
  HeadMetrics half_widths = no_metrics;
  OracleMeans oracle{};
  double optimum_share = not_measured;  // as in SpecSummary
  double least_share = not_measured;
};

// All seeds of one spec. Intervals are over query heads, after each head was averaged over the
// seeds. They describe the mean over these heads; heads are not independent samples.
struct SpecSummary {
  Spec spec;
  std::string name;  // see reports/numbers/row_names.h
  std::string canonical;
  std::vector<std::size_t> cells{};  // indices into ReplayResult::cells, one per seed
  Interval retained_mass{};
  HeadMetrics half_widths = no_metrics;  // as in AfterLossSummary
  bool decided_on_sample = false;        // as in CellResult, of any seed
  Interval retained_mass_seeds{};        // over seeds, each the mean over heads; NaN with one seed
  Interval kl_to_dense{};
  Interval topk_overlap{};
  Interval output_error{};
  OracleMeans oracle{};                 // the same for all seeds
  double optimum_share = not_measured;  // retained mass / optimum, see optimum_share_of()
  double least_share = not_measured;    // a lower limit of that share, by the bound that is known
  AfterLossSummary after{};             // what tables and figures lead with
  double visible_mean = not_measured;   // means over seeds of CellSizes
  double stored_peak = not_measured;
  double evictions = not_measured;
  double bytes_peak = not_measured;  // NaN if unknown
};

// What a spec retains as a share of the optimum. NaN if heads share their budget: then each head
// has a bound of its own, no cache reaches all of them at once, and a share would look worse than
// it is.
double optimum_share_of(const Spec& spec, double retained_mass, double optimum);

// Whether a unit stores more rows than its budget and the newest token, or has no budget: such a
// cache is of another size, and is not ranked beside those of that budget.
bool stores_more(const SpecSummary& summary);

// Whether such a cache may do so by its settings, for results that hold no sizes: it has no budget,
// holds a prompt before its first trim, trims late, appends whole chunks, or selects among pages.
bool stores_more(const Spec& spec);

// The order in which tables list specs: caches that store no more than their budget before others,
// then by budget, then by retained mass after the first loss, highest first. Stable.
void sort_for_tables(std::vector<SpecSummary>& summaries);

// Whether KL to dense says more of the spec than its retained mass does. At absolute positions it
// is -ln(retained mass) at every query.
bool kl_is_own_number(const Spec& spec);

// One per spec, in the order of the cells.
std::vector<SpecSummary> summarise(const ReplayResult& result);

}  // namespace kv::reports

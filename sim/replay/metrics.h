// The quantities that a replay measures, per query head and per unit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// Means over all queries of one query head. Of a trace that records some queries only, they are
// estimates of these means, or, if the recorded ones do not stand for the others, the means over
// the recorded ones.
//
// p is the dense row at absolute positions. q is the row over the visible set V at the spec's
// positions. Beside a learned sink p and q include it: it is always seen and has no value.
struct HeadMetrics {
  // The sum of p over V, as a share of that over all keys: the dense attention to keys that are
  // visible. In [0, 1].
  double retained_mass = 0;

  // KL(q || p) in nats: sum over V of q ln(q / p). With absolute positions this is -ln(retained
  // mass), if there is no learned sink. Keys that only a window hides from p count as 1e-9 of it.
  double kl_to_dense = 0;

  // |top-k of q, intersected with top-k of p| / k. k is the smaller of ReplayOptions::top_k and the
  // number of keys with any mass in the dense row. Among equals the older key is in the top k.
  double topk_overlap = 0;

  // |o_q - o_p| / |o_p| (2-norms), where o_q and o_p are the attention outputs: the sums of q v and
  // of p v. Only with values (q/k/v traces).
  double output_error = not_measured;

  bool operator==(const HeadMetrics&) const = default;
};

inline constexpr HeadMetrics no_metrics{not_measured, not_measured, not_measured, not_measured};

// The four numbers in their order, and back.
inline std::array<double, 4> values_of(const HeadMetrics& metrics) {
  return {metrics.retained_mass, metrics.kl_to_dense, metrics.topk_overlap, metrics.output_error};
}

inline HeadMetrics metrics_of(const std::array<double, 4>& values) {
  return {values[0], values[1], values[2], values[3]};
}

// One query head of one cell.
struct HeadResult {
  std::size_t layer = 0;  // the model's number
  std::size_t head = 0;   // the query head
  HeadMetrics metrics;
  // Half the widths of the 95 % intervals of the metrics, where the trace records a sample of the
  // queries (sim/samples/query_weights.h).
  HeadMetrics half_widths = no_metrics;
};

// One unit of one cell: sizes in rows (tokens), times in tokens.
struct UnitResult {
  std::size_t layer = 0;   // of its first head
  std::size_t head = 0;    // its first query head
  double stored_mean = 0;  // rows in memory while attending, mean over queries
  std::uint64_t stored_peak = 0;
  double visible_mean = 0;  // rows seen by a query, its own included
  std::uint64_t visible_peak = 0;
  std::uint64_t kept_at_end = 0;  // residents after the last chunk
  std::uint64_t evictions = 0;
  std::uint64_t trims = 0;
  std::uint64_t moved = 0;              // TrimCounts::moved
  double lifetime_mean = not_measured;  // tokens between arrival and eviction, over evicted tokens
};

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

// One cell in one row of numbers, for sweeps whose cells are too many to keep each head and unit.
struct CellSummary {
  HeadMetrics means;  // over all query heads
  CellSizes sizes;
  std::uint64_t heads = 0;  // how many there are
  std::uint64_t units = 0;
};

// The mass that caches of one unit could have retained, averaged over queries and over the unit's
// query heads like retained_mass. sim/oracle/oracle.h defines these caches. The bounds hold for
// absolute and in-cache positions alike, since retained_mass does not depend on positions.
struct UnitBounds {
  std::size_t layer = 0;  // of its first head
  std::size_t head = 0;   // its first query head
  std::size_t heads = 0;  // query heads that share its residents

  // The most that any cache without re-admission can retain; not measured for long streams.
  double optimum = not_measured;

  // A looser bound: every query sees its heaviest keys, even if they were evicted before.
  double per_step = not_measured;

  // The result of a cache that evicts the token with the least future mass. It is not a bound.
  double greedy = not_measured;

  bool operator==(const UnitBounds&) const = default;
};

// Means over all heads (or units) and over the queries first_step to first_step + width - 1.
struct SeriesPoint {
  Position first_step = 0;
  double retained_mass = 0;
  double kl_to_dense = 0;
  double topk_overlap = 0;
  double output_error = not_measured;
  double stored = 0;   // rows in memory while attending
  double kept = 0;     // rows in memory after the chunk was trimmed
  double visible = 0;  // rows seen
};

// When each token of one unit was resident.
struct Residency {
  std::size_t layer = 0;
  std::size_t head = 0;
  // [tokens]: the number of tokens seen when the position was evicted; tokens + 1 if it never was.
  // Position p was resident for the queries p to evicted_at[p] - 1.
  std::vector<Position> evicted_at;
};

// The dense attention of one head, for pictures: the mean of p over blocks of queries and keys.
struct AttentionMap {
  std::size_t layer = 0;
  std::size_t head = 0;
  std::size_t side = 0;     // blocks per axis
  std::size_t block = 0;    // queries and keys per block
  std::vector<float> mass;  // [side, side]: mean over the block's queries of the sum over its keys
};

// Statistics of the trace's attention without evictions, per query head.
struct DenseFacts {
  std::size_t layer = 0;
  std::size_t head = 0;
  double first_mass = 0;   // mean over queries of the attention on position 0
  double sinks_mass = 0;   // ... on the first four positions
  double recent_mass = 0;  // ... on the last 64, the query's own key included
  double entropy = 0;      // mean entropy of the row, nats
};

}  // namespace kv

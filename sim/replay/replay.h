// Replay: one pass over a trace feeds every cell of a sweep.
//
// A cell is a spec (with its budget) and a seed. Each row of attention is read or computed once and
// passed to every cell. A replay is an open loop: recorded attention does not react to evictions,
// so the numbers are exact for layer 0 and a first-order approximation above it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct Cell {
  Spec spec;
  std::uint64_t seed = 0;

  bool operator==(const Cell&) const = default;
};

struct CellResult {
  Cell cell;                        // its spec resolved for the trace (sim/spec/phases.h)
  std::vector<HeadResult> heads;    // by layer, then query head
  std::vector<UnitResult> units;    // by layer, then first head
  std::vector<SeriesPoint> series;  // over the stream
  std::vector<std::uint32_t>
      kept;  // [tokens]: in how many units the position was resident at the end
  std::vector<std::uint64_t> lifetimes;  // [tokens + 1]: how many evicted tokens lived that long
  std::vector<Residency> residency;      // of the units that the options select
  std::vector<UnitBounds> bounds;        // by unit; empty without ReplayOptions::oracle
  std::optional<CellSummary> summary{};  // in place of heads and units, where they are not kept
  std::uint64_t bytes_per_row = 0;  // keys and values of one resident of one unit; 0 if unknown
  // Half the widths of the 95 % intervals of the means over all query heads, where the trace
  // records a sample of the queries. The heads have the same queries, so this is not the mean of
  // theirs.
  HeadMetrics half_widths = no_metrics;
  // Whether the policy decided by attention or queries of which only a sample is recorded. Its
  // decisions then differ from those of a full recording, and no interval covers that.
  bool decided_on_sample = false;
};

struct ReplayResult {
  TraceInfo trace;
  std::size_t top_k = 0;
  std::size_t series_width = 0;  // queries per SeriesPoint
  std::vector<CellResult> cells;
  std::vector<DenseFacts> dense;  // by layer, then head
  AttentionMap map;               // of the head above layer 0 with the most mass on position 0
};

struct ReplayOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  std::size_t top_k = 16;
  std::size_t series_points = 1024;  // at most so many points per series

  // Residency is recorded for all units of the first seeds of each (spec, budget), as long as they
  // have at most this many entries (tokens times query heads of all layers) together, and for one
  // unit of a few more seeds (sim/replay/cell_state.h).
  std::size_t residency_entries = std::size_t{1} << 20;

  // Whether to compute the most that caches of the cells' sizes could have retained. The optimum is
  // computed only for streams of up to oracle_tokens tokens. It takes seconds per unit and
  // 4 * tokens^2 bytes per thread.
  bool oracle = false;
  std::size_t oracle_tokens = 2048;

  // Called repeatedly with the share that is done, from any thread but never from two at once. If
  // it returns false, the replay stops and returns an Error. May be empty.
  std::function<bool(double done)> progress;

  // Receives each finished part (a cell of a group of heads, a group's dense attention, the bounds
  // of a unit, the map), and is asked for it first; the results are the same. What is in it must be
  // from a replay of the same trace, cells and options, except threads and progress. May be null.
  PartStore* parts = nullptr;
};

// A trace may record some of its queries only. Evictions happen at every token; what is measured at
// the recorded queries stands for all of them, with intervals (sim/samples/query_weights.h).
//
// Errors name the trace, layer, head and row that are wrong (a row that does not sum to one, a
// NaN), or the cell that does not fit the trace, or the file of the trace if it changed meanwhile;
// and bounds of a trace that does not record all queries.
Result<ReplayResult> replay(const Trace& trace,
                            std::span<const Cell> cells,
                            const ReplayOptions& options);

}  // namespace kv

// What a cache retained of a trace's attention, by the tokens that its queries saw: the measure of
// replays (sim/replay/metrics.h), for a cache that is not ours.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// What the queries of one unit saw.
struct SeenUnit {
  std::size_t layer = 0;                    // an index into info.layers
  std::size_t first_head = 0;               // the unit's first query head
  std::size_t heads = 1;                    // and how many it has, all of one kv-head
  std::vector<std::vector<Position>> seen;  // [tokens], each increasing; none above its query
};

// Means over the unit's queries and query heads.
struct Retained {
  double mass = 0;
  double visible = 0;  // tokens that a query sees

  // The bounds of sim/oracle/oracle.h for caches whose queries see as many tokens as this one's.
  // The optimum is NaN if tokens returned that a query before had not seen, which no such cache
  // does, or if it was not asked for.
  double optimum = std::numeric_limits<double>::quiet_NaN();
  double per_step = 0;
};

// Requires a trace of all queries with as many tokens as the unit has queries. An error names the
// trace's row that is wrong. Cost: that of the unit's dense rows;
// with `optimum` also 4 * tokens^2 bytes, and the time of irrevocable_optimum.
Result<Retained> retained_by(const Trace& trace,
                             const TraceRotations& rotations,
                             const SeenUnit& unit,
                             bool optimum);

}  // namespace kv

// The rows of one trace's, evaluation's or timing's results: how they lie in the tables, written
// and read.
#pragma once

#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Where results belong: the run's id, and the place among the run's of their kind.
struct RunPlace {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;
};

// Inserts everything. To be called inside a transaction.
Result<void> insert_trace(Database& database, const RunPlace& place, const ReplayResult& result);

// Reads back what insert_trace wrote, `trace` being the row's id. Errors name the file and the
// column that cannot be what was written.
Result<ReplayResult> select_trace(Database& database, std::int64_t trace);

// The same for an evaluation.
Result<void> insert_evaluation(Database& database,
                               const RunPlace& place,
                               const ClosedLoopResult& result);
Result<ClosedLoopResult> select_evaluation(Database& database, std::int64_t evaluation);

// The same for timings.
Result<void> insert_timing(Database& database, const RunPlace& place, const TimingResult& result);
Result<TimingResult> select_timing(Database& database, std::int64_t timing);

}  // namespace kv::reports

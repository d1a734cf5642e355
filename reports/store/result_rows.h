// Writes and reads the rows that hold the results of one trace, evaluation or timing.
#pragma once

#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Where results belong: the id of the run, and their index among the run's results of the same
// kind.
struct RunPlace {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;
};

// Inserts all rows of the result. Must be called inside a transaction.
Result<void> insert_trace(Database& database, const RunPlace& place, const ReplayResult& result);

// Reads back what insert_trace wrote; `trace` is the id of the row. Errors name the file and the
// first column whose value kvcheck cannot have written.
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

// Writes and reads the rows that hold the results of one trace, evaluation, timing or task file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Where results belong: the id of the run, and their index among the run's results of the same
// kind. The row of a trace may be given its own id.
struct RunPlace {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;
  std::int64_t id = 0;  // 0: the next that is free
};

// The place of a cell in the replay of its trace.
struct CellPlace {
  std::int64_t ordinal = 0;
  std::int64_t id = 0;  // 0: the next that is free
};

// Inserts all rows of the result. Must be called inside a transaction.
Result<void> insert_trace(Database& database, const RunPlace& place, const ReplayResult& result);

// The parts of insert_trace: the trace without its cells, whose id is returned, and cells of it,
// one for each place.
Result<std::int64_t> insert_trace_alone(Database& database,
                                        const RunPlace& place,
                                        const ReplayResult& result);
Result<void> insert_cells(Database& database,
                          std::int64_t trace,
                          const ReplayResult& result,
                          std::span<const CellPlace> places);

// Reads back what insert_trace wrote; `trace` is the id of the row. Errors name the file and the
// first column whose value kvcheck cannot have written.
Result<ReplayResult> select_trace(Database& database, std::int64_t trace);

// The parts of select_trace: the trace without its cells, and one cell of it.
Result<ReplayResult> select_trace_alone(Database& database, std::int64_t trace);
Result<CellResult> select_cell(Database& database, std::int64_t cell, const TraceInfo& trace);

// The same for an evaluation.
Result<void> insert_evaluation(Database& database,
                               const RunPlace& place,
                               const ClosedLoopResult& result);
Result<ClosedLoopResult> select_evaluation(Database& database, std::int64_t evaluation);

// The marks of a trace or an evaluation, in the table of that name, whose key is the column `key`.
// No row stands for marks that are not known.
Result<void> insert_marks(Database& database,
                          const std::string& table,
                          std::int64_t id,
                          const Marks& marks);
Result<Marks> select_marks(Database& database,
                           const std::string& table,
                           const std::string& key,
                           std::int64_t id);

// The same for timings.
Result<void> insert_timing(Database& database, const RunPlace& place, const TimingResult& result);
Result<TimingResult> select_timing(Database& database, std::int64_t timing);

// The same for the answers to a task file.
Result<void> insert_task(Database& database, const RunPlace& place, const TaskResult& result);
Result<TaskResult> select_task(Database& database, std::int64_t task);

}  // namespace kv::reports

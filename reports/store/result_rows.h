// Writes and reads the rows that hold the results of one trace, evaluation, timing or task file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Where results belong: the id of the run, and their index among the run's results of the same
// kind. The row may be given its own id.
struct RunPlace {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;
  std::int64_t id = 0;  // 0: the next that is free
};

// The place of a cell on its trace, text or task file, or in its timing.
struct CellPlace {
  std::int64_t ordinal = 0;
  std::int64_t id = 0;  // 0: the next that is free; a cell of a timing has none
};

// So many cells in the order of their results.
std::vector<CellPlace> places_in_order(std::size_t cells);

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

// The same for an evaluation, and for its parts.
Result<void> insert_evaluation(Database& database,
                               const RunPlace& place,
                               const ClosedLoopResult& result);
Result<std::int64_t> insert_evaluation_alone(Database& database,
                                             const RunPlace& place,
                                             const ClosedLoopResult& result);
Result<void> insert_evaluation_cells(Database& database,
                                     std::int64_t evaluation,
                                     std::span<const ClosedLoopCell> cells,
                                     std::span<const CellPlace> places);
Result<ClosedLoopResult> select_evaluation(Database& database, std::int64_t evaluation);
Result<ClosedLoopResult> select_evaluation_alone(Database& database, std::int64_t evaluation);
Result<ClosedLoopCell> select_evaluation_cell(Database& database,
                                              std::int64_t id,
                                              const ClosedLoopResult& of);

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

// What an evaluation or the answers to a task file were made of, in the table of that name, as for
// marks.
Result<void> insert_inputs(Database& database,
                           const std::string& table,
                           std::int64_t id,
                           const ModelInputs& inputs);
Result<ModelInputs> select_inputs(Database& database,
                                  const std::string& table,
                                  const std::string& key,
                                  std::int64_t id);

// The same for timings, and for their parts.
Result<void> insert_timing(Database& database, const RunPlace& place, const TimingResult& result);
Result<std::int64_t> insert_timing_alone(Database& database,
                                         const RunPlace& place,
                                         const TimingResult& result);
Result<void> insert_timed_cells(Database& database,
                                std::int64_t timing,
                                std::span<const TimedCell> cells,
                                std::span<const CellPlace> places);
Result<TimingResult> select_timing(Database& database, std::int64_t timing);
Result<TimingResult> select_timing_alone(Database& database, std::int64_t timing);
Result<TimedCell> select_timed_cell(Database& database, std::int64_t timing, std::int64_t ordinal);

// The same for the answers to a task file, and for its parts.
Result<void> insert_task(Database& database, const RunPlace& place, const TaskResult& result);
Result<std::int64_t> insert_task_alone(Database& database,
                                       const RunPlace& place,
                                       const TaskResult& result);
Result<void> insert_task_cells(Database& database,
                               std::int64_t task,
                               std::span<const TaskCell> cells,
                               std::span<const CellPlace> places);
Result<TaskResult> select_task(Database& database, std::int64_t task);
Result<TaskResult> select_task_alone(Database& database, std::int64_t task);
Result<TaskCell> select_task_cell(Database& database, std::int64_t id, const TaskResult& of);

}  // namespace kv::reports

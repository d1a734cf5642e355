// The results file: runs, traces or evaluations, cells and series in one SQLite database.
//
// The file is written in transactions, so that a killed run leaves a readable file, and by one
// process at a time. The schema is documented in reports/SCHEMA.md; every run carries the version,
// the command, each trace's or text's checksum, and each cell's canonical spec and seed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/run_summary.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

struct sqlite3;

namespace kv::reports {

class ResultsWriter {
 public:
  // Opens or creates the file and begins a run in it. Errors: not a results file, another schema
  // version, being written by another process, no permission, disk full.
  static Result<ResultsWriter> begin(const std::string& path, const std::string& command);

  // The same, but continues the newest incomplete run of this version and command, if there is one.
  // Everything is then added again in the same order; what the run has already is not stored twice.
  // The file becomes the one that an uninterrupted run would have written.
  static Result<ResultsWriter> resume(const std::string& path, const std::string& command);

  // Whether resume() found a run to continue.
  [[nodiscard]] bool resumed() const;

  ResultsWriter(ResultsWriter&& other) noexcept;
  ResultsWriter& operator=(ResultsWriter&&) = delete;
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;
  ~ResultsWriter();

  // Adds one trace's results, in one transaction. Errors of add() besides those of the disk: a run
  // that is continued has something else in this place.
  Result<void> add(const ReplayResult& result);

  // Adds the results of a text that a model read, in one transaction.
  Result<void> add(const ClosedLoopResult& result);

  // Adds timings, in one transaction.
  Result<void> add(const TimingResult& result);

  // Adds the answers to a task file, in one transaction.
  Result<void> add(const TaskResult& result);

  // How many traces the run holds.
  [[nodiscard]] std::size_t traces() const;

  // Removes the run with everything that was added, for example because its input is wrong. The
  // file then holds what it held before begin(); if begin() created it, it is removed. No call may
  // follow.
  Result<void> discard();

  // Removes the file if begin() created it, and otherwise leaves the run incomplete: the file of a
  // run that may be continued must not change. No call may follow.
  void leave();

  // Marks the run complete. Without this call a run is shown as interrupted.
  Result<void> finish();

 private:
  struct State;
  static Result<ResultsWriter> start(const std::string& path,
                                     const std::string& command,
                                     bool resumes);
  explicit ResultsWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct StoredRun {
  RunSummary summary;
  std::vector<ReplayResult> traces;  // as add() got them, in order
  std::vector<ClosedLoopResult> evaluations;
  std::vector<TimingResult> timings;
  std::vector<TaskResult> tasks{};
};

// The runs in a results file, oldest first.
Result<std::vector<RunSummary>> list_runs(const std::string& path);

// The newest run with more than zero of `kind`, such as &RunSummary::traces; a complete one if
// there is any. Null if there is none.
const RunSummary* newest_run(std::span<const RunSummary> runs, std::size_t RunSummary::*kind);

// One whole run. Id 0 stands for the newest complete run that holds anything, or for the newest
// that does if none of those is complete, or else for the newest.
Result<StoredRun> read_run(const std::string& path, std::int64_t id = 0);

// The newest run that holds a trace, the newest that holds an evaluation, the newest that holds
// timings and the newest that holds answers, in this order and each once, so one to four runs: of
// each kind a complete one if there is any. If no run holds anything, the newest.
Result<std::vector<StoredRun>> read_newest_runs(const std::string& path);

// The run of this id alone; id 0 stands for those of read_newest_runs().
Result<std::vector<StoredRun>> runs_to_show(const std::string& path, std::int64_t id);

std::vector<RunSummary> summaries_of(std::span<const StoredRun> runs);

}  // namespace kv::reports

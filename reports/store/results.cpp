#include "kvcheck/reports/store/results.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/reports/store/held_inputs.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/store/write_lock.h"

namespace kv::reports {
// The lock is declared first so that it is released last: closing any descriptor of the file drops
// the POSIX locks that SQLite holds on it.
struct ResultsWriter::State {
  WriteLock lock;
  Database database;
  std::int64_t run = 0;
  std::int64_t traces = 0;
  std::int64_t evaluations = 0;
  std::int64_t timings = 0;
  std::int64_t tasks = 0;
  bool finished = false;
  bool resumed = false;
  HeldInputs held{};  // what a run that is continued holds already
};

ResultsWriter::ResultsWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

ResultsWriter::ResultsWriter(ResultsWriter&& other) noexcept = default;

ResultsWriter::~ResultsWriter() = default;

Result<ResultsWriter> ResultsWriter::begin(const std::string& path, const std::string& command) {
  return start(path, command, false);
}

Result<ResultsWriter> ResultsWriter::resume(const std::string& path, const std::string& command) {
  return start(path, command, true);
}

Result<ResultsWriter> ResultsWriter::start(const std::string& path,
                                           const std::string& command,
                                           bool resumes) {
  auto opened = open_to_write(path);
  if (!opened) return opened.error();
  Result<std::int64_t> run = std::int64_t{0};
  if (resumes) run = newest_unfinished(opened->database, command);
  const bool resumed = run && *run > 0;
  if (run && !resumed) run = insert_run(opened->database, command);
  if (!run) {
    opened->lock.abandon();
    return run.error();
  }
  auto state = std::make_unique<State>(State{.lock = std::move(opened->lock),
                                             .database = std::move(opened->database),
                                             .run = *run,
                                             .resumed = resumed});
  if (resumed) {
    Result<HeldInputs> held = HeldInputs::of_run(state->database, *run);
    if (!held) return held.error();
    state->held = *std::move(held);
  }
  return ResultsWriter(std::move(state));
}

bool ResultsWriter::resumed() const {
  return state_->resumed;
}

Result<void> ResultsWriter::add(const ReplayResult& result) {
  KV_CHECK(!state_->finished);
  const Result<bool> held =
      state_->held.has_trace(state_->traces, result.trace.name, result.trace.checksum);
  if (!held) return held.error();
  if (*held) {
    ++state_->traces;
    return {};
  }
  Transaction transaction(state_->database);
  if (!transaction.begun()) return transaction.begun();
  const RunPlace place{.run = state_->run, .ordinal = state_->traces};
  if (const auto done = insert_trace(state_->database, place, result); !done) return done.error();
  if (const auto done = transaction.commit(); !done) return done.error();
  ++state_->traces;
  return {};
}

Result<void> ResultsWriter::add(const ClosedLoopResult& result) {
  KV_CHECK(!state_->finished);
  const Result<bool> held =
      state_->held.has_evaluation(state_->evaluations, result.text, result.checksum);
  if (!held) return held.error();
  if (*held) {
    ++state_->evaluations;
    return {};
  }
  Transaction transaction(state_->database);
  if (!transaction.begun()) return transaction.begun();
  const RunPlace place{.run = state_->run, .ordinal = state_->evaluations};
  if (const auto done = insert_evaluation(state_->database, place, result); !done) {
    return done.error();
  }
  if (const auto done = transaction.commit(); !done) return done.error();
  ++state_->evaluations;
  return {};
}

Result<void> ResultsWriter::add(const TimingResult& result) {
  KV_CHECK(!state_->finished);
  if (static_cast<std::size_t>(state_->timings) < state_->held.timings) {
    ++state_->timings;
    return {};
  }
  Transaction transaction(state_->database);
  if (!transaction.begun()) return transaction.begun();
  const RunPlace place{.run = state_->run, .ordinal = state_->timings};
  if (const auto done = insert_timing(state_->database, place, result); !done) return done.error();
  if (const auto done = transaction.commit(); !done) return done.error();
  ++state_->timings;
  return {};
}

Result<void> ResultsWriter::add(const TaskResult& result) {
  KV_CHECK(!state_->finished);
  const Result<bool> held = state_->held.has_task(state_->tasks, result.file, result.checksum);
  if (!held) return held.error();
  if (*held) {
    ++state_->tasks;
    return {};
  }
  Transaction transaction(state_->database);
  if (!transaction.begun()) return transaction.begun();
  const RunPlace place{.run = state_->run, .ordinal = state_->tasks};
  if (const auto done = insert_task(state_->database, place, result); !done) return done.error();
  if (const auto done = transaction.commit(); !done) return done.error();
  ++state_->tasks;
  return {};
}

std::size_t ResultsWriter::traces() const {
  return std::max(static_cast<std::size_t>(state_->traces), state_->held.traces.size());
}

Result<void> ResultsWriter::discard() {
  KV_CHECK(!state_->finished);
  state_->finished = true;
  // A file that was empty before is emptied or removed whole, which also removes the tables.
  if (!state_->lock.empty()) return delete_run(state_->database, state_->run);
  state_->lock.abandon();
  return {};
}

void ResultsWriter::leave() {
  KV_CHECK(!state_->finished);
  state_->finished = true;
  if (state_->lock.empty()) state_->lock.abandon();
}

Result<void> ResultsWriter::finish() {
  KV_CHECK(!state_->finished);
  Statement update(state_->database, "UPDATE runs SET status = 'complete' WHERE id = ?");
  if (const auto done = update.run(state_->run); !done) return done.error();
  state_->finished = true;
  return {};
}

}  // namespace kv::reports

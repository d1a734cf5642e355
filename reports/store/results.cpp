#include "kvcheck/reports/store/results.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/held_inputs.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/store/write_lock.h"

namespace kv::reports {
namespace {

// A run is appended only to an undamaged file: SQLite would write into a damaged one without an
// error.
Result<void> check_whole(Database& database) {
  Statement statement(database, "PRAGMA quick_check(1)");
  const auto row = statement.next();
  if (!row) return row.error();
  const std::string verdict = *row ? statement.text(0) : "no verdict";
  if (verdict == "ok") return {};
  // The check calls a page damaged that the disk did not give.
  if (const auto unread = database.read_failure()) return *unread;
  return malformed("'" + database.path() + "' is damaged: " + printable_line(verdict));
}

// A writer that was killed while it created the file leaves pages that the first reader undoes.
Result<bool> has_no_pages(Database& database) {
  Statement statement(database, "SELECT count(*) FROM sqlite_master");
  if (const auto row = statement.next(); !row) return row.error();
  Statement pages(database, "PRAGMA page_count");
  const auto row = pages.next();
  if (!row) return row.error();
  return *row && pages.integer(0) == 0;
}

Result<void> prepare(Database& database, bool empty) {
  if (empty) return create_schema(database);
  const Result<bool> undone = has_no_pages(database);
  if (!undone) return undone.error();
  if (*undone) return create_schema(database);
  if (const auto known = check_schema(database); !known) return known.error();
  return check_whole(database);
}

Result<std::int64_t> insert_run(Database& database, const std::string& command) {
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun().error();
  Statement insert(database,
                   "INSERT INTO runs (version, command, status) VALUES (?, ?, 'running')");
  if (const auto done = insert.run(version, std::string_view(command)); !done) return done.error();
  const std::int64_t id = database.last_id();
  if (const auto done = transaction.commit(); !done) return done.error();
  return id;
}

// Deletes all rows of the run. Rows that refer to others are deleted before those that they refer
// to.
Result<void> delete_run(Database& database, std::int64_t run) {
  constexpr std::array of_run = {
      "DELETE FROM residency WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM bounds WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM series WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM units WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM heads WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM cells WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM dense WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM traces WHERE run = ?",
      "DELETE FROM eval_recall WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN evaluations"
      " ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_series WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN evaluations"
      " ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_cells WHERE evaluation IN (SELECT id FROM evaluations WHERE run = ?)",
      "DELETE FROM evaluations WHERE run = ?",
      "DELETE FROM timed_cells WHERE timing IN (SELECT id FROM timings WHERE run = ?)",
      "DELETE FROM timings WHERE run = ?",
      "DELETE FROM runs WHERE id = ?",
  };
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun();
  for (const char* const sql : of_run) {
    Statement remove(database, sql);
    if (const auto done = remove.run(run); !done) return done.error();
  }
  return transaction.commit();
}

}  // namespace

// The lock is declared first so that it is released last: closing any descriptor of the file drops
// the POSIX locks that SQLite holds on it.
struct ResultsWriter::State {
  WriteLock lock;
  Database database;
  std::int64_t run = 0;
  std::int64_t traces = 0;
  std::int64_t evaluations = 0;
  std::int64_t timings = 0;
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
  auto taken = WriteLock::take(path);
  if (!taken) return taken.error();
  WriteLock lock = std::move(*taken);
  auto opened = Database::open(path);
  if (!opened) return opened.error();
  Database database = std::move(*opened);
  Result<void> ready = prepare(database, lock.empty());
  Result<std::int64_t> run = std::int64_t{0};
  if (ready && resumes) run = newest_unfinished(database, command);
  const bool resumed = run && *run > 0;
  if (ready && run && !resumed) run = insert_run(database, command);
  if (!ready || !run) {
    lock.abandon();
    return ready ? run.error() : ready.error();
  }
  auto state = std::make_unique<State>(State{
      .lock = std::move(lock), .database = std::move(database), .run = *run, .resumed = resumed});
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

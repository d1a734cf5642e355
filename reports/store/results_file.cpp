#include "kvcheck/reports/store/results_file.h"

#include <sys/stat.h>

#include <array>
#include <string_view>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/schema.h"

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
  // The line before the verdict names the database.
  const std::string_view words =
      std::string_view(verdict).substr(verdict.starts_with("***") ? verdict.find('\n') + 1 : 0);
  return malformed("'" + database.path() + "' is damaged: " + printable_line(words));
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
  if (const auto whole = check_whole(database); !whole) return whole.error();
  return upgrade_schema(database);
}

}  // namespace

Result<Database> open_to_read(const std::string& path) {
  struct stat status {};

  // Checked before SQLite opens the file, because its own messages do not name these reasons.
  if (::stat(path.c_str(), &status) != 0) return system_error("open", path);
  if (S_ISDIR(status.st_mode)) return io_error("cannot read '" + path + "': it is a directory");
  if (!S_ISREG(status.st_mode))
    return io_error("cannot read '" + path + "': it is not a regular file");
  // SQLite takes an empty file for an empty database, so it needs a message of its own.
  if (status.st_size == 0) {
    return malformed("'" + path + "' is empty; expected a kvcheck results file");
  }
  auto database = Database::open(path);
  if (!database) return database;
  if (const auto known = check_schema(*database); !known) return known.error();
  return database;
}

Result<WritableResults> open_to_write(const std::string& path) {
  auto taken = WriteLock::take(path);
  if (!taken) return taken.error();
  WriteLock lock = std::move(*taken);
  auto opened = Database::open(path);
  if (!opened) return opened.error();
  Database database = std::move(*opened);
  if (const Result<void> ready = prepare(database, lock.empty()); !ready) {
    lock.abandon();
    return ready.error();
  }
  return WritableResults{.lock = std::move(lock), .database = std::move(database)};
}

Result<std::int64_t> insert_run(Database& database, const std::string& command) {
  Statement insert(database,
                   "INSERT INTO runs (version, command, status) VALUES (?, ?, 'running')");
  if (const auto done = insert.run(version, std::string_view(command)); !done) return done.error();
  return database.last_id();
}

// Rows that refer to others are deleted before those that they refer to.
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
      "DELETE FROM first_losses WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM summaries WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM sampled_heads WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM sampled_cells WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM heads WHERE cell IN (SELECT cells.id FROM cells JOIN traces"
      " ON cells.trace = traces.id WHERE traces.run = ?)",
      "DELETE FROM cells WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM sampled_traces WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM recorded_kv_heads WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM marks WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM dense WHERE trace IN (SELECT id FROM traces WHERE run = ?)",
      "DELETE FROM traces WHERE run = ?",
      "DELETE FROM eval_recall WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN evaluations"
      " ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_after WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN evaluations"
      " ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_open_loop WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN"
      " evaluations ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_series WHERE cell IN (SELECT eval_cells.id FROM eval_cells JOIN evaluations"
      " ON eval_cells.evaluation = evaluations.id WHERE evaluations.run = ?)",
      "DELETE FROM eval_inputs WHERE evaluation IN (SELECT id FROM evaluations WHERE run = ?)",
      "DELETE FROM eval_marks WHERE evaluation IN (SELECT id FROM evaluations WHERE run = ?)",
      "DELETE FROM eval_cells WHERE evaluation IN (SELECT id FROM evaluations WHERE run = ?)",
      "DELETE FROM evaluations WHERE run = ?",
      "DELETE FROM timed_details WHERE timing IN (SELECT id FROM timings WHERE run = ?)",
      "DELETE FROM timed_repetitions WHERE timing IN (SELECT id FROM timings WHERE run = ?)",
      "DELETE FROM timing_threads WHERE timing IN (SELECT id FROM timings WHERE run = ?)",
      "DELETE FROM timed_cells WHERE timing IN (SELECT id FROM timings WHERE run = ?)",
      "DELETE FROM timings WHERE run = ?",
      "DELETE FROM task_answers WHERE cell IN (SELECT task_cells.id FROM task_cells JOIN tasks"
      " ON task_cells.task = tasks.id WHERE tasks.run = ?)",
      "DELETE FROM task_cells WHERE task IN (SELECT id FROM tasks WHERE run = ?)",
      "DELETE FROM task_inputs WHERE task IN (SELECT id FROM tasks WHERE run = ?)",
      "DELETE FROM task_item_texts WHERE task IN (SELECT id FROM tasks WHERE run = ?)",
      "DELETE FROM task_items WHERE task IN (SELECT id FROM tasks WHERE run = ?)",
      "DELETE FROM tasks WHERE run = ?",
      "DELETE FROM sweeps WHERE run = ?",
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

}  // namespace kv::reports

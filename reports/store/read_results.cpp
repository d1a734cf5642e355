#include <algorithm>
#include <array>
#include <span>

#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/sqlite.h"

namespace kv::reports {
namespace {

// Files before version 7 have no tables of tasks.
Result<void> count_tasks(Database& database, std::vector<RunSummary>& runs) {
  const auto there = has_table(database, "tasks");
  if (!there) return there.error();
  if (!*there) return {};
  for (RunSummary& run : runs) {
    Statement count(database,
                    "SELECT count(DISTINCT tasks.id), count(task_cells.id) FROM tasks"
                    " LEFT JOIN task_cells ON task_cells.task = tasks.id WHERE tasks.run = ?");
    count.bind_all(run.id);
    if (const auto row = count.next(); !row) return row.error();
    run.tasks = count.count(0);
    run.cells += count.count(1);
  }
  return {};
}

Result<std::vector<RunSummary>> runs_in(Database& database) {
  Statement rows(database,
                 "SELECT id, version, command, status = 'complete',"
                 " (SELECT count(*) FROM traces WHERE traces.run = runs.id),"
                 " (SELECT count(*) FROM evaluations WHERE evaluations.run = runs.id),"
                 " (SELECT count(*) FROM cells JOIN traces ON traces.id = cells.trace"
                 "  WHERE traces.run = runs.id) +"
                 " (SELECT count(*) FROM eval_cells JOIN evaluations"
                 "  ON evaluations.id = eval_cells.evaluation WHERE evaluations.run = runs.id) +"
                 " (SELECT count(*) FROM timed_cells JOIN timings"
                 "  ON timings.id = timed_cells.timing WHERE timings.run = runs.id),"
                 " (SELECT count(*) FROM timings WHERE timings.run = runs.id)"
                 " FROM runs ORDER BY id");
  std::vector<RunSummary> runs;
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) break;
    runs.push_back({.id = rows.integer(0),
                    .version = rows.text(1),
                    .command = rows.text(2),
                    .complete = rows.integer(3) != 0,
                    .traces = rows.count(4),
                    .evaluations = rows.count(5),
                    .timings = rows.count(7),
                    .cells = rows.count(6)});
  }
  if (const auto counted = count_tasks(database, runs); !counted) return counted.error();
  return runs;
}

constexpr std::array kinds = {&RunSummary::traces, &RunSummary::evaluations, &RunSummary::timings,
                              &RunSummary::tasks};

// The newest of the runs that `holds` accepts, a complete one if any is; null if there is none.
template <typename Holds>
const RunSummary* newest(std::span<const RunSummary> runs, const Holds& holds) {
  const RunSummary* found = nullptr;
  for (const RunSummary& run : runs) {
    if (!holds(run)) continue;
    if (found == nullptr || run.complete || !found->complete) found = &run;
  }
  return found;
}

bool holds_anything(const RunSummary& run) {
  return std::ranges::any_of(kinds, [&](auto kind) { return run.*kind > 0; });
}

Error no_runs(const std::string& path) {
  return {Error::Kind::not_found, "'" + path + "' holds no runs"};
}

Result<RunSummary> select(const std::vector<RunSummary>& runs,
                          const std::string& path,
                          std::int64_t id) {
  if (runs.empty()) return no_runs(path);
  if (id == 0) {
    const auto* const found = newest(runs, holds_anything);
    return found == nullptr ? runs.back() : *found;
  }
  for (const RunSummary& run : runs) {
    if (run.id == id) return run;
  }
  const std::string first = std::to_string(runs.front().id);
  const std::string last = std::to_string(runs.back().id);
  return Error{Error::Kind::not_found,
               "'" + path + "' has no run " + std::to_string(id) + "; it holds " +
                   (runs.size() == 1 ? "run " + first : "runs " + first + " to " + last)};
}

Result<std::vector<std::int64_t>> ids_of(Database& database, const char* sql, std::int64_t run) {
  Statement rows(database, sql);
  rows.bind_all(run);
  std::vector<std::int64_t> ids;
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return ids;
    ids.push_back(rows.integer(0));
  }
}

Result<StoredRun> read_whole(Database& database, const RunSummary& summary) {
  StoredRun run{.summary = summary, .traces = {}, .evaluations = {}, .timings = {}};
  const auto traces =
      ids_of(database, "SELECT id FROM traces WHERE run = ? ORDER BY ordinal", summary.id);
  if (!traces) return traces.error();
  for (const std::int64_t trace : *traces) {
    auto result = select_trace(database, trace);
    if (!result) return result.error();
    run.traces.push_back(std::move(*result));
  }
  const auto evaluations =
      ids_of(database, "SELECT id FROM evaluations WHERE run = ? ORDER BY ordinal", summary.id);
  if (!evaluations) return evaluations.error();
  for (const std::int64_t evaluation : *evaluations) {
    auto result = select_evaluation(database, evaluation);
    if (!result) return result.error();
    run.evaluations.push_back(std::move(*result));
  }
  const auto timings =
      ids_of(database, "SELECT id FROM timings WHERE run = ? ORDER BY ordinal", summary.id);
  if (!timings) return timings.error();
  for (const std::int64_t timing : *timings) {
    auto result = select_timing(database, timing);
    if (!result) return result.error();
    run.timings.push_back(std::move(*result));
  }
  if (summary.tasks == 0) return run;
  const auto tasks =
      ids_of(database, "SELECT id FROM tasks WHERE run = ? ORDER BY ordinal", summary.id);
  if (!tasks) return tasks.error();
  for (const std::int64_t task : *tasks) {
    auto result = select_task(database, task);
    if (!result) return result.error();
    run.tasks.push_back(std::move(*result));
  }
  return run;
}

}  // namespace

Result<std::vector<RunSummary>> list_runs(const std::string& path) {
  auto database = open_to_read(path);
  if (!database) return database.error();
  return runs_in(*database);
}

const RunSummary* newest_run(std::span<const RunSummary> runs, std::size_t RunSummary::*kind) {
  return newest(runs, [&](const RunSummary& run) { return run.*kind > 0; });
}

Result<StoredRun> read_run(const std::string& path, std::int64_t id) {
  auto database = open_to_read(path);
  if (!database) return database.error();
  const auto runs = runs_in(*database);
  if (!runs) return runs.error();
  const auto summary = select(*runs, path, id);
  if (!summary) return summary.error();
  return read_whole(*database, *summary);
}

Result<std::vector<StoredRun>> read_newest_runs(const std::string& path) {
  auto database = open_to_read(path);
  if (!database) return database.error();
  const auto runs = runs_in(*database);
  if (!runs) return runs.error();
  if (runs->empty()) return no_runs(path);
  std::vector<const RunSummary*> requested;
  for (const auto& kind : kinds) {
    const RunSummary* const found = newest_run(*runs, kind);
    if (found == nullptr || std::ranges::find(requested, found) != requested.end()) continue;
    requested.push_back(found);
  }
  if (requested.empty()) requested.push_back(&runs->back());
  std::vector<StoredRun> stored;
  for (const RunSummary* const summary : requested) {
    auto run = read_whole(*database, *summary);
    if (!run) return run.error();
    stored.push_back(*std::move(run));
  }
  return stored;
}

Result<std::vector<StoredRun>> runs_to_show(const std::string& path, std::int64_t id) {
  if (id == 0) return read_newest_runs(path);
  auto run = read_run(path, id);
  if (!run) return run.error();
  return std::vector<StoredRun>{*std::move(run)};
}

std::vector<RunSummary> summaries_of(std::span<const StoredRun> runs) {
  std::vector<RunSummary> summaries;
  for (const StoredRun& run : runs) summaries.push_back(run.summary);
  return summaries;
}

}  // namespace kv::reports

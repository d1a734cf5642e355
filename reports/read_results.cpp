#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "reports/result_rows.h"
#include "reports/results.h"
#include "reports/schema.h"
#include "reports/sqlite.h"

namespace kv {
namespace {

Result<Database> open_results(const std::string& path) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) return system_error("open", path);
  if (S_ISDIR(status.st_mode)) return io_error("cannot read '" + path + "': it is a directory");
  if (!S_ISREG(status.st_mode))
    return io_error("cannot read '" + path + "': it is not a regular file");
  if (status.st_size == 0) {
    return malformed("'" + path + "' is empty; expected a kvcheck results file");
  }
  auto database = Database::open(path);
  if (!database) return database;
  if (const auto known = check_schema(*database); !known) return known.error();
  return database;
}

Result<std::vector<RunSummary>> runs_in(Database& database) {
  Statement rows(database,
                 "SELECT id, version, command, status = 'complete',"
                 " (SELECT count(*) FROM traces WHERE traces.run = runs.id),"
                 " (SELECT count(*) FROM cells JOIN traces ON traces.id = cells.trace"
                 "  WHERE traces.run = runs.id)"
                 " FROM runs ORDER BY id");
  std::vector<RunSummary> runs;
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return runs;
    runs.push_back({.id = rows.integer(0),
                    .version = rows.text(1),
                    .command = rows.text(2),
                    .complete = rows.integer(3) != 0,
                    .traces = rows.count(4),
                    .cells = rows.count(5)});
  }
}

Result<RunSummary> choose(const std::vector<RunSummary>& runs,
                          const std::string& path,
                          std::int64_t id) {
  if (runs.empty()) return Error{Error::Kind::not_found, "'" + path + "' holds no runs"};
  if (id == 0) {
    const auto has_traces = [](const RunSummary& run) { return run.traces > 0; };
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), has_traces);
    return newest == runs.rend() ? runs.back() : *newest;
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

Result<std::vector<std::int64_t>> traces_of(Database& database, std::int64_t run) {
  Statement rows(database, "SELECT id FROM traces WHERE run = ? ORDER BY ordinal");
  rows.bind_all(run);
  std::vector<std::int64_t> ids;
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return ids;
    ids.push_back(rows.integer(0));
  }
}

}  // namespace

Result<std::vector<RunSummary>> list_runs(const std::string& path) {
  auto database = open_results(path);
  if (!database) return database.error();
  return runs_in(*database);
}

Result<StoredRun> read_run(const std::string& path, std::int64_t id) {
  auto database = open_results(path);
  if (!database) return database.error();
  const auto runs = runs_in(*database);
  if (!runs) return runs.error();
  const auto summary = choose(*runs, path, id);
  if (!summary) return summary.error();
  const auto traces = traces_of(*database, summary->id);
  if (!traces) return traces.error();
  StoredRun run{.summary = *summary, .traces = {}};
  for (const std::int64_t trace : *traces) {
    auto result = select_trace(*database, trace);
    if (!result) return result.error();
    run.traces.push_back(std::move(*result));
  }
  return run;
}

}  // namespace kv

#include "kvcheck/reports/store/held_inputs.h"

#include <string_view>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"

namespace kv::reports {
namespace {

Result<std::vector<HeldInputs::Input>> select_inputs(Database& database,
                                                     std::int64_t run,
                                                     const char* sql) {
  Statement select(database, sql);
  select.bind_all(run);
  std::vector<HeldInputs::Input> inputs;
  while (true) {
    const auto row = select.next();
    if (!row) return row.error();
    if (!*row) return inputs;
    inputs.push_back({select.text(0), select.text(1)});
  }
}

}  // namespace

Result<std::int64_t> newest_unfinished(Database& database, const std::string& command) {
  Statement select(database,
                   "SELECT max(id) FROM runs WHERE version = ? AND command = ?"
                   " AND status = 'running'");
  select.bind_all(version, std::string_view(command));
  const auto row = select.next();
  if (!row) return row.error();
  return *row ? select.integer(0) : 0;
}

Result<HeldInputs> HeldInputs::of_run(Database& database, std::int64_t run) {
  HeldInputs held{.where = "run " + std::to_string(run) + " of '" + database.path() + "'"};
  auto found = select_inputs(database, run,
                             "SELECT name, checksum FROM traces WHERE run = ? ORDER BY ordinal");
  if (!found) return found.error();
  held.traces = *std::move(found);
  found = select_inputs(database, run,
                        "SELECT text, checksum FROM evaluations WHERE run = ? ORDER BY ordinal");
  if (!found) return found.error();
  held.evaluations = *std::move(found);
  found = select_inputs(database, run, "SELECT model, '' FROM timings WHERE run = ?");
  if (!found) return found.error();
  held.timings = found->size();
  found = select_inputs(database, run,
                        "SELECT file, checksum FROM tasks WHERE run = ? ORDER BY ordinal");
  if (!found) return found.error();
  held.tasks = *std::move(found);
  return held;
}

Result<bool> HeldInputs::has(const std::vector<Input>& held,
                             std::int64_t ordinal,
                             const std::string& name,
                             std::uint64_t checksum) const {
  const auto at = static_cast<std::size_t>(ordinal);
  if (at >= held.size()) return false;
  if (held[at].name == name && held[at].checksum == hexadecimal(checksum)) return true;
  return malformed(where + " holds '" + held[at].name + "' with the checksum " + held[at].checksum +
                   ", expected '" + name + "' with " + hexadecimal(checksum) +
                   "; run without --resume to begin anew");
}

}  // namespace kv::reports

#include "kvcheck/cli/report/unfinished_runs.h"

#include <algorithm>
#include <ostream>

#include "kvcheck/base/text/printable.h"

namespace kv::cli {

void note_unfinished(const std::string& path,
                     std::span<const reports::RunSummary> shown,
                     bool by_number,
                     std::ostream& notes) {
  for (const reports::RunSummary& run : shown) {
    if (run.complete) continue;
    notes << "Note: run " << run.id << " did not finish; what it lacks is not shown.\n";
  }
  if (by_number) return;
  const auto all = reports::list_runs(path);
  if (!all || all->empty() || all->back().complete) return;
  const reports::RunSummary& last = all->back();
  const bool holds = last.traces + last.evaluations + last.timings + last.tasks > 0;
  if (!holds || std::ranges::find(shown, last.id, &reports::RunSummary::id) != shown.end()) return;
  notes << "Note: run " << last.id << " is newer and did not finish; --run " << last.id
        << " shows what it has.\n";
}

std::string unfinished_words(const std::string& path) {
  const auto all = reports::list_runs(path);
  if (!all || all->empty() || all->back().complete) return "";
  return "Run " + std::to_string(all->back().id) + " of '" + printable_line(path) +
         "' is its newest, did not finish, and does not count";
}

}  // namespace kv::cli

#include "kvcheck/reports/compare/complete_runs.h"

#include <utility>

namespace kv::reports {

Result<std::vector<StoredRun>> complete_runs(const std::string& path) {
  const auto summaries = list_runs(path);
  if (!summaries) return summaries.error();
  std::vector<StoredRun> runs;
  for (const RunSummary& summary : *summaries) {
    if (!summary.complete) continue;
    auto run = read_run(path, summary.id);
    if (!run) return run.error();
    runs.push_back(*std::move(run));
  }
  return runs;
}

}  // namespace kv::reports

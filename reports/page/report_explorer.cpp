#include "kvcheck/reports/page/report_explorer.h"

#include <set>
#include <string>

namespace kv::reports {
namespace {

// A page with more entries would take about 10 s to compress and may open slowly, so only
// kvcheck explore writes it.
constexpr std::size_t most_explored = 6'000'000;

std::size_t residency_entries(const StoredRun& run) {
  std::size_t entries = 0;
  for (const ReplayResult& trace : run.traces) {
    for (const CellResult& cell : trace.cells)
      entries += cell.residency.size() * trace.trace.tokens;
  }
  return entries;
}

// The run with the residency of each spec's first seed only, which a report needs most.
StoredRun with_first_seeds(const StoredRun& run) {
  StoredRun first;
  first.summary = run.summary;
  first.traces = run.traces;
  for (ReplayResult& trace : first.traces) {
    std::set<std::string> specs;
    for (CellResult& cell : trace.cells) {
      if (!specs.insert(cell.cell.spec.canonical()).second) cell.residency.clear();
    }
  }
  return first;
}

}  // namespace

Result<std::string> explorer_of_report(const StoredRun& run,
                                       std::span<const ExplorerTrace> traces) {
  const bool large = residency_entries(run) > most_explored;
  const StoredRun first = large ? with_first_seeds(run) : StoredRun{};
  const StoredRun& shown = large ? first : run;
  if (residency_entries(shown) > most_explored) return std::string();
  auto html = explorer_page(shown, traces);
  if (!html && html.error().kind == Error::Kind::unsupported) return std::string();
  return html;
}

}  // namespace kv::reports

#include "kvcheck/reports/page/report_explorer.h"

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

}  // namespace

Result<std::string> explorer_of_report(const StoredRun& run,
                                       std::span<const ExplorerTrace> traces) {
  if (residency_entries(run) > most_explored) return std::string();
  auto html = explorer_page(run, traces);
  if (!html && html.error().kind == Error::Kind::unsupported) return std::string();
  return html;
}

}  // namespace kv::reports

#include <algorithm>
#include <array>
#include <utility>

#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/reports/explorer/deflate.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/explorer/explorer_assets.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {

Result<std::string> explorer_page(const StoredRun& run, std::span<const ExplorerTrace> traces) {
  const auto recorded = [](const CellResult& cell) { return !cell.residency.empty(); };
  const bool any = std::ranges::any_of(run.traces, [&](const ReplayResult& trace) {
    return std::ranges::any_of(trace.cells, recorded);
  });
  if (!any) {
    return Error{Error::Kind::unsupported,
                 "run " + std::to_string(run.summary.id) +
                     " holds no trace with recorded residency; expected a run of kvcheck replay"};
  }
  const auto data = deflated(explorer_data(run, traces));
  if (!data) return data.error();
  const std::array<std::pair<std::string_view, std::string>, 4> parts = {
      {{"{title}", html_escaped(run.summary.command)},
       {"{style}", explorer_style},
       {"{data}", base64(*data)},
       {"{script}", explorer_script}}};
  // Each mark occurs once and in this order. What was inserted is not searched: it may hold marks.
  const std::string_view page = explorer_html;
  std::string out;
  std::size_t from = 0;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark, from);
    out.append(page.substr(from, at - from)).append(text);
    from = at + mark.size();
  }
  return out.append(page.substr(from));
}

}  // namespace kv::reports

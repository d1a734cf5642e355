#include "kvcheck/cli/replay/result_text.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/replay/kv_heads.h"
#include "kvcheck/cli/replay/spec_notes.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::cli {
namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string loop_words(const TraceInfo& trace) {
  const std::string_view policy = policy_recorded(trace);
  if (!policy.empty()) return "closed loop: recorded under " + shown(policy);
  return std::string("open loop: ") + (reports::generated(trace) ? "generated" : "recorded") +
         " with nothing evicted";
}

}  // namespace

std::string head_line(const TraceInfo& trace) {
  const bool rows = trace.kind == TraceKind::attention;
  return printable_line(trace.name) + ": " + counted(trace.tokens, "token") + ", " +
         counted(trace.layers.size(), "layer") + " of " + counted(trace.query_heads, "head") +
         ", " + (rows ? "attention rows" : "q/k/v") + "; " + loop_words(trace) + "\n";
}

std::string csv_text(const ReplayResult& result, bool per_head, bool with_header) {
  const std::string csv =
      per_head ? reports::cells_and_heads_csv(result) : reports::cells_csv(result);
  return with_header ? csv : csv.substr(csv.find('\n') + 1);
}

void say_notes(const ReplayPlan& plan, Streams& streams) {
  for (const std::string& words : plan.too_short) {
    streams.err << printable_line(words) << ". --strict makes this an error.\n";
  }
  if (plan.quiet) return;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < plan.traces.size(); ++i) {
    const TraceInfo& info = plan.traces[i].info();
    longest = std::max(longest, info.tokens);
    if (!plan.kv_heads_known[i]) say_kv_heads(info, streams);
    if (plan.left_out[i].empty()) continue;
    streams.err << "--policy all leaves out policies that use facts missing in '"
                << printable_line(info.name) << "': " << join(plan.left_out[i], ", ") << '\n';
  }
  // That others are left out was said above.
  std::vector<Cell> replayed;
  std::ranges::copy_if(plan.cells, std::back_inserter(replayed), [&](const Cell& cell) {
    return std::ranges::any_of(plan.traces,
                               [&](const auto& trace) { return fits(cell.spec, trace.info()); });
  });
  for (const std::string& note : notes_on(replayed, longest)) {
    streams.err << "Note: " << note << ".\n";
  }
}

std::string where_lines(const Outputs& outputs) {
  std::string lines;
  if (!outputs.json.empty() && outputs.json != "-") lines += "JSON lines: " + outputs.json + "\n";
  if (!outputs.csv.empty() && outputs.csv != "-") lines += "CSV: " + outputs.csv + "\n";
  if (outputs.results.empty()) return lines;
  return lines + "Results: " + outputs.results + "\nNext: kvcheck report " +
         shell_word(outputs.results) + " -o report\n";
}

}  // namespace kv::cli

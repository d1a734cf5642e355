#include "cli/result_text.h"

#include "reports/export.h"
#include "reports/labels.h"
#include "reports/tables.h"

namespace kv::cli {
namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string head_line(const TraceInfo& trace) {
  const bool rows = trace.kind == TraceKind::attention;
  return trace.name + ": " + counted(trace.tokens, "token") + ", " +
         counted(trace.layers.size(), "layer") + " of " + counted(trace.query_heads, "head") +
         ", " + (rows ? "attention rows" : "q/k/v") + "; " + trace.loop +
         " loop: " + (generated(trace) ? "generated" : "recorded") + " with nothing evicted\n";
}

std::string csv_text(const ReplayResult& result, bool per_head, bool with_header) {
  const std::string csv = per_head ? heads_csv(result) : cells_csv(result);
  return with_header ? csv : csv.substr(csv.find('\n') + 1);
}

}  // namespace kv::cli

// An evaluation as CSV and JSON lines.
#include <cmath>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {
namespace {

JsonObject json_cell(const ClosedLoopResult& result, const ClosedLoopCell& cell) {
  const Spec& spec = cell.cell.spec;
  JsonObject object;
  object.add("type", "evaluation")
      .add("loop", "closed")
      .add("model", result.model)
      .add("architecture", result.architecture)
      .add("text", result.text)
      .add("window", std::uint64_t{result.window})
      .add("streams", std::uint64_t{result.streams})
      .add("tokens", std::uint64_t{result.tokens})
      .add("storage", stored_as(spec, result.storage))
      .add("spec", spec.canonical())
      .add("policy", spec.policy->name);
  if (spec.bounded()) {
    object.add("budget", std::uint64_t{spec.budget});
  } else {
    object.add_raw("budget", "null");
  }
  object.add("seed", cell.cell.seed)
      .add("targets", std::uint64_t{cell.targets()})
      .add("perplexity", cell.perplexity())
      .add("targets_after", std::uint64_t{cell.targets_after})
      .add("perplexity_after", cell.perplexity_after())
      .add("kv_bytes", std::uint64_t{cell.kv_bytes})
      .add("retained_mass", cell.retained_mass)
      .add("retained_mass_after", cell.retained_mass_after(result.tokens));
  return object;
}

std::string exact_or_empty(double value) {
  return std::isnan(value) ? "" : shortest(value);
}

std::string json_segments(const ClosedLoopCell& cell, std::size_t width) {
  std::vector<std::string> parts;
  for (const Segment& segment : segments_of(cell.series, width)) {
    parts.push_back(JsonObject()
                        .add("first", std::uint64_t{segment.first})
                        .add("last", std::uint64_t{segment.last})
                        .add("targets", std::uint64_t{segment.targets})
                        .add("perplexity", segment.perplexity())
                        .text());
  }
  return "[" + join(parts, ",") + "]";
}

std::string json_recall(const ClosedLoopCell& cell) {
  std::vector<std::string> parts;
  for (const RecallBin& bin : cell.recall) {
    parts.push_back(JsonObject()
                        .add("first", std::uint64_t{bin.first})
                        .add("last", std::uint64_t{bin.last})
                        .add("asked", std::uint64_t{bin.asked})
                        .add("right", std::uint64_t{bin.right})
                        .text());
  }
  return "[" + join(parts, ",") + "]";
}

std::vector<std::string> csv_fields(const ClosedLoopResult& result, const ClosedLoopCell& cell) {
  const Spec& spec = cell.cell.spec;
  std::vector<std::string> fields = {result.model,
                                     result.architecture,
                                     stored_as(spec, result.storage),
                                     result.text,
                                     "closed",
                                     std::to_string(result.window),
                                     spec.canonical(),
                                     std::string(spec.policy->name),
                                     spec.bounded() ? std::to_string(spec.budget) : "",
                                     std::to_string(cell.cell.seed),
                                     std::to_string(cell.targets()),
                                     shortest(cell.perplexity()),
                                     std::to_string(cell.kv_bytes),
                                     exact_or_empty(cell.retained_mass)};
  const bool asked = !cell.recall.empty();
  for (const RecallBin& bin : asked ? cell.recall : recall_bins()) {
    fields.push_back(asked ? std::to_string(bin.asked) : "");
    fields.push_back(asked ? std::to_string(bin.right) : "");
  }
  fields.push_back(std::to_string(cell.targets_after));
  fields.push_back(exact_or_empty(cell.perplexity_after()));
  fields.push_back(exact_or_empty(cell.retained_mass_after(result.tokens)));
  return fields;
}

}  // namespace

std::string closed_loop_csv(std::span<const ClosedLoopResult> results) {
  std::vector<std::string> header = {"model",   "architecture", "storage",  "text",         "loop",
                                     "window",  "spec",         "policy",   "budget",       "seed",
                                     "targets", "perplexity",   "kv_bytes", "retained_mass"};
  for (const RecallBin& bin : recall_bins()) {
    header.push_back("asked_" + bin.label());
    header.push_back("right_" + bin.label());
  }
  header.insert(header.end(), {"targets_after", "perplexity_after", "retained_mass_after"});
  std::string out = csv_line(header);
  for (const ClosedLoopResult& result : results) {
    for (const ClosedLoopCell& cell : result.cells) out += csv_line(csv_fields(result, cell));
  }
  return out;
}

std::string closed_loop_series_csv(const ClosedLoopResult& result) {
  std::string out = "spec,seed,first_target,targets,nats,perplexity\n";
  for (const ClosedLoopCell& cell : result.cells) {
    for (const LossPoint& point : cell.series) {
      const std::vector<std::string> fields = {
          cell.cell.spec.canonical(),  std::to_string(cell.cell.seed),
          std::to_string(point.first), std::to_string(point.targets),
          shortest(point.nats),        shortest(perplexity_of(point.nats, point.targets))};
      out += csv_line(fields);
    }
  }
  return out;
}

std::string closed_loop_json(const ClosedLoopResult& result) {
  std::string out;
  for (const ClosedLoopCell& cell : result.cells) {
    out += json_cell(result, cell)
               .add_raw("segments", json_segments(cell, result.segment))
               .add_raw("recall", json_recall(cell))
               .text() +
           "\n";
  }
  return out;
}

}  // namespace kv::reports

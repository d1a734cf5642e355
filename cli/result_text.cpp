#include "cli/result_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/json_text.h"
#include "base/words.h"

// INTEGRATOR: all but head_line() are stand-ins until reports/tables.h (summary_text) and
// reports/export.h (json_lines) are here; call those instead, in this file only.

namespace kv::cli {
namespace {

HeadMetrics mean_of(const CellResult& cell) {
  HeadMetrics mean{0, 0, 0, 0};
  for (const HeadResult& head : cell.heads) {
    mean.retained_mass += head.metrics.retained_mass;
    mean.kl_to_dense += head.metrics.kl_to_dense;
    mean.topk_overlap += head.metrics.topk_overlap;
    mean.output_error += head.metrics.output_error;
  }
  const auto heads = static_cast<double>(std::max<std::size_t>(1, cell.heads.size()));
  return {mean.retained_mass / heads, mean.kl_to_dense / heads, mean.topk_overlap / heads,
          mean.output_error / heads};
}

JsonObject started(const char* type, const ReplayResult& result, const CellResult& cell) {
  JsonObject object;
  object.add("type", type)
      .add("trace", result.trace.name)
      .add("spec", cell.cell.spec.canonical())
      .add("policy", cell.cell.spec.policy->name)
      .add("budget", std::uint64_t{cell.cell.spec.budget})
      .add("seed", cell.cell.seed)
      .add("loop", result.trace.loop);
  return object;
}

std::string finished(JsonObject& object, const HeadMetrics& metrics) {
  object.add("retained_mass", metrics.retained_mass)
      .add("kl_to_dense", metrics.kl_to_dense)
      .add("topk_overlap", metrics.topk_overlap)
      .add("output_error", metrics.output_error);
  return object.text() + "\n";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_row(const ReplayResult& result,
                    const CellResult& cell,
                    const std::string& place,
                    const HeadMetrics& metrics) {
  std::string out = quoted(result.trace.name) + "," + quoted(cell.cell.spec.canonical()) + "," +
                    std::to_string(cell.cell.spec.budget) + "," + std::to_string(cell.cell.seed) +
                    "," + result.trace.loop + place;
  for (const double value :
       {metrics.retained_mass, metrics.kl_to_dense, metrics.topk_overlap, metrics.output_error}) {
    out += ",";
    if (value == value) out += shortest(value);
  }
  return out + "\n";
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string head_line(const TraceInfo& trace) {
  const bool rows = trace.kind == TraceKind::attention;
  return trace.name + ": " + counted(trace.tokens, "token") + ", " +
         counted(trace.layers.size(), "layer") + " of " + counted(trace.query_heads, "head") +
         ", " + (rows ? "attention rows" : "q/k/v") + "; " + trace.loop +
         " loop: recorded with nothing evicted\n";
}

std::string table_text(const ReplayResult& result) {
  std::vector<const CellResult*> order;
  for (const CellResult& cell : result.cells) order.push_back(&cell);
  std::ranges::stable_sort(order, [](const CellResult* a, const CellResult* b) {
    return mean_of(*a).retained_mass > mean_of(*b).retained_mass;
  });
  std::string out = "retained    KL  top-k   budget  seed  policy\n";
  for (const CellResult* cell : order) {
    const HeadMetrics mean = mean_of(*cell);
    std::array<char, 96> numbers{};
    std::snprintf(numbers.data(), numbers.size(), "%8.4f %7.4f %6.3f %7u %5llu  ",
                  mean.retained_mass, mean.kl_to_dense, mean.topk_overlap, cell->cell.spec.budget,
                  static_cast<unsigned long long>(cell->cell.seed));
    out += numbers.data() + cell->cell.spec.label() + "\n";
  }
  return out;
}

std::string json_text(const ReplayResult& result, bool per_head) {
  std::string out;
  for (const CellResult& cell : result.cells) {
    JsonObject object = started("cell", result, cell);
    out += finished(object, mean_of(cell));
    if (!per_head) continue;
    for (const HeadResult& head : cell.heads) {
      JsonObject line = started("head", result, cell);
      line.add("layer", std::uint64_t{head.layer}).add("head", std::uint64_t{head.head});
      out += finished(line, head.metrics);
    }
  }
  return out;
}

std::string csv_text(const ReplayResult& result, bool per_head) {
  std::string out = std::string("trace,spec,budget,seed,loop") + (per_head ? ",layer,head" : "") +
                    ",retained_mass,kl_to_dense,topk_overlap,output_error\n";
  for (const CellResult& cell : result.cells) {
    if (!per_head) {
      out += csv_row(result, cell, "", mean_of(cell));
      continue;
    }
    for (const HeadResult& head : cell.heads) {
      const std::string place = "," + std::to_string(head.layer) + "," + std::to_string(head.head);
      out += csv_row(result, cell, place, head.metrics);
    }
  }
  return out;
}

}  // namespace kv::cli

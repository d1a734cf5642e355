// The words of a plan of `kvcheck sweep`, as its JSON says them. docs/sweeps.md describes the
// fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/reports/sweeps/sweep_results.h"

namespace kv::cli {

// How much of each cell the results file keeps.
enum class Detail {
  summary,  // of a replay one row of means and sizes; of an evaluation losses by segment
  heads,    // of a replay: a row for each head and unit
  series,   // these, and the course over the stream
};

// The model of an evaluation, of tasks or of timings: the options of `kvcheck eval` with these
// names.
struct PlannedModel {
  std::string path{};
  std::string weights = "as-is";
  std::string tokenizer{};  // empty: what lies in or beside the model
  bool ids = false;
  bool no_begin = false;
  std::string storage = "f32";
  std::string keys = "rotated";

  bool operator==(const PlannedModel&) const = default;
};

// How the texts of an evaluation are cut: the options of `kvcheck eval` with these names.
struct PlannedCuts {
  std::size_t tokens = 0;  // 0: all
  std::string split{};
  bool each = false;
  bool mark = false;
  std::vector<std::uint32_t> windows = {0};  // each text at each size; 0: not cut
  std::size_t segment = 256;
  bool open_loop = false;

  bool operator==(const PlannedCuts&) const = default;
};

// How often and after what every cell is timed: the options of `kvcheck speed` with these names.
struct PlannedTimes {
  std::vector<std::uint32_t> lengths{};  // of prompts
  std::size_t tokens = 32;
  std::size_t runs = 1;
  std::size_t threads = 1;  // of each timing

  bool operator==(const PlannedTimes&) const = default;
};

struct PlanText {
  reports::SweepKind kind = reports::SweepKind::replay;
  std::vector<std::string> sources;   // traces, texts or task files; none if cells are timed
  std::vector<std::string> policies;  // at least one; "all" is every policy at its defaults
  std::vector<std::uint32_t> budgets;
  std::vector<std::uint64_t> seeds = {1};
  std::uint32_t chunk = 0;  // 0: those of the specs
  Marks marks{};            // of traces and texts
  // Of replays.
  std::size_t kv_heads = 0;  // of dumps; 0: as they say
  std::size_t top_k = 16;
  bool oracle = false;
  std::size_t oracle_tokens = 2048;
  bool strict = false;
  // Of evaluations, tasks and timings.
  PlannedModel model{};
  PlannedCuts cuts{};
  std::size_t answer_tokens = 0;  // 0: each item's own
  bool beyond_context = false;
  PlannedTimes times{};
  Detail detail = Detail::summary;

  bool operator==(const PlanText&) const = default;

  // The field of the sources: "traces", "texts", "files" or "lengths".
  [[nodiscard]] std::string_view sources_field() const;
};

// Reads a plan. Errors: not JSON, with the line; a field that is unknown (with the nearest),
// missing, out of range, given with two values that are the same, or of another type; none or
// several of "replay", "eval", "tasks" and "speed". The sentence begins with `name`, the file's,
// and names the field. Whether the words are those of policies, traces and models is for
// plan_sweep. Cost: proportional to the bytes.
Result<PlanText> parse_plan(std::string_view json, const std::string& name);

// The error of a field of the plan in this file, as one sentence that names both: "'plan.json':
// plan.eval.texts[1]: ..."; of its section, if `field` is empty. Where the error names an option
// that a field stands for, as --budget, it names the field instead, here "budgets".
Error at_field(const std::string& path,
               const PlanText& plan,
               const std::string& field,
               Error error);

// "texts[1]".
std::string place_in(std::string_view list, std::size_t index);

// The plan as one line of JSON with every field written; parse_plan returns an equal one for it.
// It begins with the field of its kind.
std::string plan_json(const PlanText& plan);

}  // namespace kv::cli

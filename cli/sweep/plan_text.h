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

namespace kv::cli {

// How much of each cell the results file keeps.
enum class Detail {
  summary,  // one row of means and sizes
  heads,    // a row for each head and unit
  series,   // these, the course over the stream, and what was kept and how long
};

struct PlanText {
  std::vector<std::string> traces;    // at least one
  std::vector<std::string> policies;  // at least one; "all" is every policy at its defaults
  std::vector<std::uint32_t> budgets;
  std::vector<std::uint64_t> seeds = {1};
  std::uint32_t chunk = 0;  // 0: those of the specs
  Marks marks{};
  std::size_t kv_heads = 0;  // of dumps; 0: as they say
  std::size_t top_k = 16;
  bool oracle = false;
  std::size_t oracle_tokens = 2048;
  bool strict = false;
  Detail detail = Detail::summary;

  bool operator==(const PlanText&) const = default;
};

// Reads a plan. Errors: not JSON, with the line; a field that is unknown (with the nearest),
// missing, out of range, given with two values that are the same, or of another type. The sentence
// begins with `name`, the file's, and names the field. Whether the words are those of policies and
// traces is for plan_sweep. Cost: proportional to the bytes.
Result<PlanText> parse_plan(std::string_view json, const std::string& name);

// The plan as one line of JSON with every field written; parse_plan returns an equal one for it.
std::string plan_json(const PlanText& plan);

}  // namespace kv::cli

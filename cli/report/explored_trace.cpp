#include "kvcheck/cli/report/explored_trace.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {
namespace {

// 64 MiB of attention a cache; a page with more would not open soon.
constexpr std::size_t most_mass = std::size_t{1} << 24;

struct Selected {
  std::size_t cell = 0;
  const Residency* recorded = nullptr;
};

// A cell is left out if its spec was recorded with the requested seed too.
bool has_other_seed(const ReplayResult& result, std::size_t cell, const UnitChoice& choice) {
  const Cell& own = result.cells[cell].cell;
  if (!choice.seed || own.seed == *choice.seed) return false;
  return std::ranges::any_of(result.cells, [&](const CellResult& other) {
    return other.cell.seed == *choice.seed && other.cell.spec == own.spec &&
           !other.residency.empty();
  });
}

std::vector<Selected> select(const ReplayResult& result, const UnitChoice& choice) {
  std::vector<Selected> selected;
  for (std::size_t cell = 0; cell < result.cells.size(); ++cell) {
    if (has_other_seed(result, cell, choice)) continue;
    const std::vector<Residency>& units = result.cells[cell].residency;
    std::size_t last = 0;
    for (const Residency& unit : units) last = std::max(last, unit.layer);
    bool taken = false;
    for (const Residency& unit : units) {
      const bool here = choice.kind == UnitChoice::Kind::one
                            ? unit.layer == choice.layer && unit.head == choice.head
                            : unit.layer == last;
      if (choice.kind != UnitChoice::Kind::all && (!here || taken)) continue;
      taken = true;
      selected.push_back({cell, &unit});
    }
  }
  return selected;
}

// Whether the run has recorded a cell with the seed that --seed names.
Result<void> expect_seed(const ReplayResult& result, const UnitChoice& choice) {
  std::set<std::uint64_t> seeds;
  for (const CellResult& cell : result.cells) {
    if (!cell.residency.empty()) seeds.insert(cell.cell.seed);
  }
  if (!choice.seed || seeds.contains(*choice.seed)) return {};
  std::vector<std::string> there;
  for (const std::uint64_t seed : seeds) there.push_back(std::to_string(seed));
  return usage_error("--seed is " + std::to_string(*choice.seed) + ", of which '" +
                     printable_line(result.trace.name) +
                     "' has no recorded residency; expected one of " + join(there, ", "));
}

Error nothing_selected(const ReplayResult& result, const UnitChoice& choice) {
  std::string there;
  for (const CellResult& cell : result.cells) {
    if (cell.residency.empty() || !there.empty()) continue;
    const Residency& unit = cell.residency.back();
    there = std::to_string(unit.layer) + "/" + std::to_string(unit.head);
  }
  return usage_error("--unit names layer " + std::to_string(choice.layer) + ", head " +
                     std::to_string(choice.head) + ", of which '" +
                     printable_line(result.trace.name) +
                     "' has no recorded residency; expected the first head of a cache that has, " +
                     "such as " + there);
}

Result<reports::ExplorerSteps> steps_of(const Trace& trace,
                                        const ReplayResult& result,
                                        const Selected& one) {
  const Cell& cell = result.cells[one.cell].cell;
  const auto steps = unit_steps(trace, cell, one.recorded->layer, one.recorded->head, most_mass);
  if (!steps) return steps.error();
  if (steps->residency.evicted_at != one.recorded->evicted_at) {
    return malformed("'" + printable_line(result.trace.name) + "': '" + cell.spec.label() +
                     "' evicts other tokens in layer " + std::to_string(one.recorded->layer) +
                     ", head " + std::to_string(one.recorded->head) +
                     " than the run recorded; expected a run of this version of kvcheck");
  }
  const TraceInfo& info = trace.info();
  const auto layer = std::ranges::find(info.layers, one.recorded->layer) - info.layers.begin();
  return reports::explorer_steps(one.cell, *steps,
                                 rules_of(info, static_cast<std::size_t>(layer)).window);
}

Result<std::vector<reports::ExplorerSteps>> all_steps(const Trace& trace,
                                                      const ReplayResult& result,
                                                      std::span<const Selected> selected) {
  std::vector<reports::ExplorerSteps> all(selected.size());
  const auto done =
      run_tasks(selected.size(), machine_threads(), [&](const RunningTask& task) -> Result<void> {
        auto steps = steps_of(trace, result, selected[task.index()]);
        if (!steps) return steps.error();
        all[task.index()] = *std::move(steps);
        return {};
      });
  if (!done) return done.error();
  return all;
}

Error not_replayed(const std::string& word, std::uint64_t checksum, std::int64_t run) {
  return usage_error("--trace names '" + printable_line(word) + "' with the checksum " +
                     hexadecimal(checksum) + ", which run " + std::to_string(run) +
                     " did not replay; expected a trace of the run");
}

}  // namespace

Result<UnitChoice> unit_choice(std::string_view unit, std::string_view seed) {
  UnitChoice choice;
  if (!seed.empty()) {
    const auto number = parse_count(seed, "--seed", 0, std::numeric_limits<std::uint64_t>::max());
    if (!number) return number.error();
    choice.seed = *number;
  }
  if (unit.empty()) return choice;
  choice.kind = UnitChoice::Kind::all;
  if (unit == "all") return choice;
  const std::size_t slash = unit.find('/');
  const auto number = [](std::string_view digits) {
    return parse_count(digits, "--unit", 0, std::numeric_limits<std::uint32_t>::max());
  };
  if (slash != std::string_view::npos) {
    const auto layer = number(unit.substr(0, slash));
    const auto head = number(unit.substr(slash + 1));
    if (layer && head) return UnitChoice{UnitChoice::Kind::one, *layer, *head, choice.seed};
  }
  return usage_error("--unit is '" + printable_line(unit) +
                     "'; expected all, or a layer and a head, as in 5/0");
}

Result<reports::ExplorerTrace> explored_trace(const std::string& word,
                                              const reports::StoredRun& run,
                                              const UnitChoice& choice) {
  auto opened = open_source_dump(word, {}, {});
  if (!opened) return opened.error();
  const std::uint64_t checksum = opened->trace.info().checksum;
  const auto result = std::ranges::find_if(
      run.traces, [&](const ReplayResult& one) { return one.trace.checksum == checksum; });
  if (result == run.traces.end()) return not_replayed(word, checksum, run.summary.id);
  if (opened->trace.info().kv_heads != result->trace.kv_heads) {
    // The user gave the number of kv-heads of a dump to the replay.
    opened = open_source_dump(word, {.kv_heads = result->trace.kv_heads}, {});
    if (!opened) return opened.error();
  }
  Trace& trace = opened->trace;
  trace.mark(result->trace.marks);
  if (auto there = expect_seed(*result, choice); !there) return there.error();
  const std::vector<Selected> selected = select(*result, choice);
  if (selected.empty()) return nothing_selected(*result, choice);
  auto steps = all_steps(trace, *result, selected);
  if (!steps) return steps.error();
  if (auto same = trace.unchanged(); !same) return same.error();
  return reports::ExplorerTrace{
      .checksum = checksum, .transcript = trace.transcript(), .steps = *std::move(steps)};
}

}  // namespace kv::cli

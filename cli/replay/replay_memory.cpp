#include "kvcheck/cli/replay/replay_memory.h"

#include <algorithm>
#include <string>

#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/replay/cell_state.h"

namespace kv::cli {
namespace {

// The heads that a replay processes together: see the groups of sim/replay/cell_state.h.
struct Groups {
  std::uint64_t count = 0;
  std::uint64_t kv_heads = 0;  // of one group
  std::uint64_t heads = 0;     // query heads of one group
};

Groups groups_of(const TraceInfo& info, std::span<const Cell> cells) {
  bool layer = false;
  bool model = false;
  for (const Cell& cell : cells) {
    model = model || cell.spec.unit == Unit::model;
    layer = layer || cell.spec.unit == Unit::layer || cell.spec.budgets.shared();
  }
  const std::uint64_t layers = info.layers.size();
  const std::uint64_t kv_heads = std::max<std::size_t>(1, info.kv_heads);
  Groups groups{.count = layers * kv_heads, .kv_heads = 1, .heads = info.query_heads / kv_heads};
  if (layer || model) groups = {.count = layers, .kv_heads = kv_heads, .heads = info.query_heads};
  if (model) groups = {.count = 1, .kv_heads = layers * kv_heads, .heads = layers * groups.heads};
  return groups;
}

// The state of one cache: its residents, the marks of every token, and what a policy may keep of
// each (a score, a few counts).
std::uint64_t bytes_of_cache(const Spec& spec, std::uint64_t tokens, std::uint64_t head_dim) {
  constexpr std::uint64_t per_resident = 96;
  const std::uint64_t most = 2 * std::uint64_t{spec.budget} + spec.chunk;
  const bool trims = spec.bounded() && spec.phases.compress == Phases::Compress::always;
  const std::uint64_t residents = trims ? std::min(tokens, most) : tokens;
  // Policies that compare keys keep copies of them.
  const std::uint64_t vectors = needs_of(spec).keys || needs_of(spec).values ? 8 * head_dim : 0;
  return tokens + residents * (per_resident + vectors);
}

struct Bytes {
  std::uint64_t results = 0;
  std::uint64_t caches = 0;
  std::uint64_t rows = 0;
  std::uint64_t oracle = 0;
};

Bytes bytes_of(const TraceInfo& info, std::span<const Cell> cells, const ReplayOptions& options) {
  const std::uint64_t tokens = info.tokens;
  const std::uint64_t points = std::min<std::uint64_t>(tokens, options.series_points);
  const std::uint64_t heads = info.layers.size() * info.query_heads;
  const Groups groups = groups_of(info, cells);
  const std::uint64_t threads = options.threads > 0 ? options.threads : machine_threads();
  const std::uint64_t shares = std::clamp<std::uint64_t>(threads / groups.count, 1, cells.size());
  const std::uint64_t tasks = groups.count * shares;
  const std::uint64_t running = std::min(threads, tasks);

  // What a cell's result and the part of each group have alike: kept, lifetimes and series.
  constexpr std::uint64_t of_point = 80;
  const std::uint64_t over_tokens = 12 * tokens;
  const std::vector<RecordedUnits> recorded =
      recorded_units(info, cells, options.residency_entries);
  Bytes bytes;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    bytes.results += over_tokens + points * 2 * of_point +
                     heads * (sizeof(HeadResult) + sizeof(UnitResult) + sizeof(UnitBounds));
    if (recorded[i] != RecordedUnits::none) {
      bytes.results += 8 * tokens * (recorded[i] == RecordedUnits::all ? heads : 1);
    }
    bytes.caches += over_tokens + groups.kv_heads * points * of_point +
                    groups.heads * bytes_of_cache(cell.spec, tokens, info.head_dim);
  }
  // Of each task that runs, and of three times as many that wait to be joined, which happens where
  // other programs delay a thread. Allocators keep memory of their own for each thread.
  constexpr std::uint64_t of_thread = std::uint64_t{4} << 20;
  bytes.caches = std::min(4 * running, tasks) * bytes.caches / shares + running * of_thread;
  const std::uint64_t vectors = 4 * tokens * info.head_dim;
  bytes.rows = running * (groups.heads * (24 * tokens + vectors) + groups.kv_heads * 3 * vectors);
  if (info.kind == TraceKind::qkv) {
    bytes.rows += 8 * tokens * info.rope.dims * different_rotations(info);
    // Logits and weights of the eight rows that are computed at a time, less the one above.
    bytes.rows += running * groups.heads * 7 * 8 * tokens;
  }
  // A triangle of doubles, and the search's own marks.
  if (options.oracle && tokens <= options.oracle_tokens) {
    bytes.oracle = std::min(threads, heads) * (4 * tokens * (tokens + 1) + 256 * tokens);
  }
  return bytes;
}

std::vector<MemoryNeed> needs_of(const Bytes& most, std::size_t cells) {
  constexpr std::uint64_t of_program = std::uint64_t{16} << 20;
  const std::string count = std::to_string(cells);
  return {
      {"the program itself", of_program},
      {"the results of " + count + " cells", most.results},
      {"the caches of " + count + " cells, which fewer --threads or --seeds reduce", most.caches},
      {"rows of attention, which fewer --threads reduce", most.rows},
      {"the optimum, which fewer --threads or a smaller --oracle-tokens reduce", most.oracle}};
}

}  // namespace

std::vector<MemoryNeed> replay_needs(std::span<const Trace> traces,
                                     std::span<const Cell> cells,
                                     const ReplayOptions& options) {
  Bytes most;
  for (const Trace& trace : traces) {
    const Bytes bytes = bytes_of(trace.info(), cells, options);
    most = {.results = std::max(most.results, bytes.results),
            .caches = std::max(most.caches, bytes.caches),
            .rows = std::max(most.rows, bytes.rows),
            .oracle = std::max(most.oracle, bytes.oracle)};
  }
  return needs_of(most, cells.size());
}

std::vector<MemoryNeed> replay_needs(const TraceInfo& trace,
                                     std::span<const Cell> cells,
                                     const ReplayOptions& options) {
  return needs_of(bytes_of(trace, cells, options), cells.size());
}

std::vector<MemoryNeed> source_needs(const std::string& source) {
  const auto spec = synthetic_source(source);
  if (!spec || !*spec) return {};
  return {{"'" + source + "'", stream_bytes(**spec)}};
}

}  // namespace kv::cli

#include "kvcheck/cli/sweep/plan/replay_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/replay/replay_memory.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::cli {
namespace {

// Bytes of a row of each table, with the tree around it: from the sizes of files of two sweeps.
constexpr std::uint64_t of_cell = 60;
constexpr std::uint64_t of_summary = 105;
constexpr std::uint64_t of_head = 52;
constexpr std::uint64_t of_unit = 62;
constexpr std::uint64_t of_point = 76;
constexpr std::uint64_t of_bounds = 45;
constexpr std::uint64_t of_trace = 500;
constexpr std::uint64_t widest_map = 128;  // tokens or groups of tokens on each side

// The indices of the cells that run on the trace.
Result<std::vector<std::size_t>> runnable(std::span<const PlannedCell> cells, const Trace& trace) {
  if (const auto served = unserved(cells, trace); !served) return served.error();
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Spec& spec = cells[i].cell.spec;
    if (check_serves(trace, spec) && fits(spec, trace.info())) indices.push_back(i);
  }
  return indices;
}

double cost_of(const TraceInfo& trace, std::size_t cells) {
  const auto tokens = static_cast<double>(trace.tokens);
  const auto heads = static_cast<double>(trace.layers.size() * trace.query_heads);
  return heads * tokens * tokens * static_cast<double>(1 + cells);
}

}  // namespace

Result<std::shared_ptr<const Trace>> PlannedTraces::open(std::size_t index,
                                                         const ReadingProgress& progress) {
  Slot& slot = slots_[index];
  const std::lock_guard lock(slot.mutex);
  if (slot.file) return slot.file;
  if (auto in_use = slot.synthetic.lock()) return std::shared_ptr<const Trace>(in_use);
  const std::string& source = sources_[index];
  Result<Dump> dump = open_source_dump(source, {.kv_heads = kv_heads_}, [&](double share) {
    if (progress) progress(source, share);
  });
  if (!dump) return dump.error();
  if (marks_.known()) dump->trace.mark(marks_);
  auto trace = std::make_shared<const Trace>(std::move(dump->trace));
  if (synthetic_source(source)) {
    slot.synthetic = trace;
  } else {
    slot.file = trace;
  }
  return std::shared_ptr<const Trace>(std::move(trace));
}

void keep_detail(Detail detail, CellResult& cell) {
  // Which cells have a residency depends on the other cells of a replay.
  cell.residency = {};
  if (detail == Detail::series) return;
  cell.series = {};
  cell.kept = {};
  cell.lifetimes = {};
  if (detail == Detail::summary) reports::keep_summary(cell);
}

Result<void> ReplayWork::add(std::span<const PlannedCell> cells,
                             const ReadingProgress& progress,
                             std::vector<std::string>& left_out) {
  const std::size_t index = infos_.size();
  const auto trace = traces_.open(index, progress);
  if (!trace) return trace.error();
  const TraceInfo& info = (*trace)->info();
  for (const TraceInfo& other : infos_) {
    if (other.name != info.name || other.checksum != info.checksum) continue;
    return malformed("the trace '" + text_.sources[index] + "' is given twice");
  }
  auto indices = runnable(cells, **trace);
  if (!indices) return indices.error();
  if (auto fitting = check_fit(cells, info); !fitting) {
    if (text_.strict) return fitting;
    left_out.push_back(left_out_words(cells, info));
    if (!fits_any(cells, info)) indices->clear();
  }
  infos_.push_back(info);
  planned_.push_back({.name = info.name, .cells = *std::move(indices)});
  return {};
}

std::size_t ReplayWork::series_width(std::size_t source) const {
  const std::size_t points = replay_options(1).series_points;
  return (infos_[source].tokens + points - 1) / points;
}

std::string ReplayWork::inputs() const {
  std::string inputs;
  for (const TraceInfo& trace : infos_) inputs += " " + hexadecimal(trace.checksum);
  return inputs;
}

double ReplayWork::cost(std::size_t source, std::span<const Cell> cells) const {
  return cost_of(infos_[source], cells.size());
}

ReplayOptions ReplayWork::replay_options(unsigned threads) const {
  ReplayOptions options;
  options.threads = threads;
  options.top_k = text_.top_k;
  if (text_.detail != Detail::series) options.series_points = 1;
  options.residency_entries = 0;
  options.oracle = text_.oracle;
  options.oracle_tokens = text_.oracle_tokens;
  return options;
}

Result<reports::SweepResult> ReplayWork::run(std::size_t source,
                                             std::span<const Cell> cells,
                                             const WorkOptions& how) const {
  const auto trace = traces_.open(source);
  if (!trace) return trace.error();
  if ((*trace)->info().checksum != infos_[source].checksum) {
    return malformed("'" + text_.sources[source] + "' changed since the plan was read");
  }
  ReplayOptions options = replay_options(how.threads);
  options.progress = how.progress;
  options.parts = how.parts;
  auto result = replay(**trace, cells, options);
  if (!result) return result.error();
  for (CellResult& cell : result->cells) keep_detail(text_.detail, cell);
  return reports::SweepResult(*std::move(result));
}

std::vector<MemoryNeed> ReplayWork::needs(std::size_t source,
                                          std::span<const Cell> cells,
                                          unsigned threads) const {
  auto needs = replay_needs(infos_[source], cells, replay_options(threads));
  for (const MemoryNeed& need : source_needs(text_.sources[source])) {
    needs.push_back({"streams", need.bytes});
  }
  return needs;
}

std::uint64_t ReplayWork::bytes_of_source(std::size_t source) const {
  const TraceInfo& trace = infos_[source];
  const std::uint64_t side = std::min<std::uint64_t>(trace.tokens, widest_map);
  return of_trace + 4 * side * side + of_head * trace.layers.size() * trace.query_heads;
}

std::uint64_t ReplayWork::bytes_of_cell(std::size_t source, const Cell& cell) const {
  const TraceInfo& trace = infos_[source];
  const std::uint64_t heads = trace.layers.size() * trace.query_heads;
  std::uint64_t bytes = of_cell + cell.spec.canonical().size() + cell.spec.label().size() +
                        cell.spec.policy->name.size();
  if (text_.detail == Detail::summary) {
    return bytes + of_summary + (text_.oracle ? of_bounds : 0);
  }
  bytes += heads * (of_head + of_unit + (text_.oracle ? of_bounds : 0));
  if (text_.detail == Detail::heads) return bytes;
  const std::uint64_t points = std::min<std::uint64_t>(trace.tokens, 1024);
  return bytes + points * of_point + 12 * std::uint64_t{trace.tokens};
}

Result<double> ReplayWork::pace(std::size_t source, std::span<const Cell> planned) const {
  // What a query costs besides its pairs depends on the length.
  const TraceInfo& info = infos_[source];
  const std::size_t heads = std::min<std::size_t>(info.query_heads * info.layers.size(), 2);
  const auto spec = parse_synthetic(
      "zipf:kind=qkv,tokens=" + std::to_string(std::clamp<std::size_t>(info.tokens, 16, 1024)) +
      ",heads=" + std::to_string(heads));
  if (!spec) return spec.error();
  const Trace trace = make_synthetic(*spec);
  std::vector<Cell> cells;
  for (const Cell& cell : planned) {
    if (check_serves(trace, cell.spec)) cells.push_back(cell);
  }
  // Specs that need a prompt or a text are as slow as others.
  if (cells.empty()) cells.push_back({parse_spec("h2o", {.budget = 64}).value(), 1});
  const auto begun = std::chrono::steady_clock::now();
  const auto result = replay(trace, cells, replay_options(1));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!result) return result.error();
  return took.count() / cost_of(trace.info(), cells.size());
}

}  // namespace kv::cli

#include "kvcheck/cli/sweep/sweep_plan.h"

#include <xxhash.h>

#include <filesystem>
#include <map>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::cli {
namespace {

// The error of a field of the plan, as one sentence that names both.
Error at_field(const std::string& path, const std::string& field, Error error) {
  error.message.insert(0, "'" + path + "': plan.replay." + field + ": ");
  return error;
}

std::string place(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

Result<std::vector<PlannedCell>> cells_of(const std::string& path, const PlanText& text) {
  Sweep sweep{.policies = {}, .budgets = text.budgets, .seeds = text.seeds, .chunk = text.chunk};
  // One by one first, so that an error names its field.
  for (std::size_t i = 0; i < text.policies.size(); ++i) {
    sweep.policies = {text.policies[i]};
    const auto cells = plan_cells(sweep);
    if (!cells) return at_field(path, place("policies", i), cells.error());
  }
  sweep.policies = text.policies;
  auto cells = plan_cells(sweep);
  if (!cells) return at_field(path, "policies", cells.error());
  return cells;
}

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

Result<void> add_trace(const std::string& path,
                       std::size_t index,
                       std::span<const PlannedCell> cells,
                       const ReadingProgress& progress,
                       SweepPlan& plan) {
  const auto trace = plan.sources->open(index, progress);
  const std::string field = place("traces", index);
  if (!trace) return at_field(path, field, trace.error());
  PlannedTrace planned{.info = (*trace)->info(), .cells = {}};
  for (const PlannedTrace& other : plan.traces) {
    if (other.info.name != planned.info.name || other.info.checksum != planned.info.checksum)
      continue;
    return at_field(path, field,
                    malformed("the trace '" + plan.text.traces[index] + "' is given twice"));
  }
  auto indices = runnable(cells, **trace);
  if (!indices) return at_field(path, field, indices.error());
  planned.cells = *std::move(indices);
  if (const auto fitting = check_fit(cells, planned.info); !fitting) {
    if (plan.text.strict) return at_field(path, field, fitting.error());
    plan.left_out.push_back(left_out_words(cells, planned.info));
    if (!fits_any(cells, planned.info)) planned.cells.clear();
  }
  plan.identity.total += planned.cells.size();
  plan.traces.push_back(std::move(planned));
  return {};
}

// Of the plan with the checksums of its traces, which another file of the same name would change.
std::string identity_of(const SweepPlan& plan) {
  std::string all = plan.identity.plan;
  for (const PlannedTrace& trace : plan.traces) all += " " + hexadecimal(trace.info.checksum);
  return hexadecimal(XXH3_64bits(all.data(), all.size()));
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

Result<SweepPlan> plan_sweep(const std::string& path, const ReadingProgress& progress) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  auto text = parse_plan({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!text) return text.error();
  SweepPlan plan;
  plan.text = *std::move(text);
  plan.identity.plan = plan_json(plan.text);
  const auto cells = cells_of(path, plan.text);
  if (!cells) return cells.error();
  for (const PlannedCell& planned : *cells) plan.cells.push_back(planned.cell);
  plan.sources = std::make_unique<PlannedTraces>(plan.text);
  for (std::size_t i = 0; i < plan.text.traces.size(); ++i) {
    const auto added = add_trace(path, i, *cells, progress, plan);
    if (!added) return added.error();
  }
  if (plan.identity.total == 0) {
    return malformed("'" + path + "': none of its cells can run; " + plan.left_out.front());
  }
  plan.identity.identity = identity_of(plan);
  plan.identity.command =
      "kvcheck sweep " + shell_word(std::filesystem::path(path).filename().string());
  plan.identity.traces = plan.traces.size();
  plan.identity.cells = plan.cells.size();
  return plan;
}

}  // namespace kv::cli

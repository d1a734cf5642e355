#include "kvcheck/cli/sweep/plan/sweep_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/json_line.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/evaluate/speed_rows.h"
#include "kvcheck/cli/model/repeated_prompts.h"
#include "kvcheck/cli/replay/spec_notes.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/cli/sweep/plan/eval_work.h"
#include "kvcheck/cli/sweep/plan/model_words.h"
#include "kvcheck/cli/sweep/plan/replay_work.h"
#include "kvcheck/cli/sweep/plan/speed_work.h"
#include "kvcheck/cli/sweep/plan/task_work.h"

namespace kv::cli {
namespace {

using reports::SweepKind;

Result<std::vector<PlannedCell>> cells_of(const std::string& path, const PlanText& text) {
  Sweep sweep{
      .policies = text.policies, .budgets = text.budgets, .seeds = text.seeds, .chunk = text.chunk};
  sweep.budgets_are_taken = sweep.takes_budgets();
  // One by one first, so that an error names its field.
  for (std::size_t i = 0; i < text.policies.size(); ++i) {
    sweep.policies = {text.policies[i]};
    const auto cells = plan_cells(sweep);
    if (!cells) return at_field(path, text, place_in("policies", i), cells.error());
  }
  sweep.policies = text.policies;
  auto cells = plan_cells(sweep);
  if (!cells) return at_field(path, text, "policies", cells.error());
  return cells;
}

Result<std::unique_ptr<const PlannedWork>> replays_of(const std::string& path,
                                                      std::span<const PlannedCell> cells,
                                                      const ReadingProgress& progress,
                                                      SweepPlan& plan) {
  auto work = std::make_unique<ReplayWork>(plan.text);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < plan.text.sources.size(); ++i) {
    const auto added = work->add(cells, progress, plan.left_out);
    if (!added) return at_field(path, plan.text, place_in("traces", i), added.error());
    longest = std::max(longest, work->info(i).tokens);
  }
  // Cells that no trace has are named as left out, and need no note.
  std::vector<bool> run(cells.size());
  for (const PlannedSource& source : work->sources()) {
    for (const std::size_t cell : source.cells) run[cell] = true;
  }
  std::vector<Cell> noted;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (run[i]) noted.push_back(cells[i].cell);
  }
  add_new(notes_on(noted, longest), plan.notes);
  return std::unique_ptr<const PlannedWork>(std::move(work));
}

Result<std::unique_ptr<const PlannedWork>> work_of(const std::string& path,
                                                   std::span<const PlannedCell> cells,
                                                   const ReadingProgress& progress,
                                                   SweepPlan& plan) {
  const auto as_any = [](auto work) -> Result<std::unique_ptr<const PlannedWork>> {
    if (!work) return work.error();
    return std::unique_ptr<const PlannedWork>(*std::move(work));
  };
  switch (plan.text.kind) {
    case SweepKind::replay:
      return replays_of(path, cells, progress, plan);
    case SweepKind::eval:
      return as_any(EvalWork::create(path, plan.text, plan.cells, plan.notes));
    case SweepKind::tasks:
      return as_any(TaskWork::create(path, plan.text, plan.cells, plan.notes));
    case SweepKind::speed:
      return as_any(SpeedWork::create(path, plan.text, plan.cells));
  }
  return std::unique_ptr<const PlannedWork>();
}

// Of the plan with the checksums of its inputs, which another file of the same name would change.
std::string identity_of(const SweepPlan& plan) {
  const std::string all = plan.identity.plan + plan.work->inputs();
  return hexadecimal(XXH3_64bits(all.data(), all.size()));
}

}  // namespace

Result<SweepPlan> plan_sweep(const std::string& path, const ReadingProgress& progress) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto text = parse_plan(json, path);
  if (!text) return text.error();
  SweepPlan plan;
  plan.text = *std::move(text);
  plan.identity.kind = plan.text.kind;
  plan.identity.plan = plan_json(plan.text);
  const auto cells = cells_of(path, plan.text);
  if (!cells) return with_line(cells.error(), json, path);
  for (const PlannedCell& planned : *cells) {
    if (plan.text.kind != SweepKind::replay && is_without_prompt(planned)) continue;
    plan.cells.push_back(planned.cell);
  }
  if (plan.text.kind == SweepKind::speed && plan.text.chunk == 0) give_usual_chunks(plan.cells);
  auto work = work_of(path, *cells, progress, plan);
  if (!work) return with_line(work.error(), json, path);
  plan.work = *std::move(work);
  for (const PlannedSource& source : plan.work->sources()) {
    plan.identity.total += source.cells.size();
  }
  if (plan.identity.total == 0) {
    return malformed("'" + path + "': none of its cells can run; " + plan.left_out.front());
  }
  plan.identity.identity = identity_of(plan);
  plan.identity.command =
      "kvcheck sweep " + shell_word(std::filesystem::path(path).filename().string());
  plan.identity.sources = plan.work->sources().size();
  plan.identity.cells = plan.cells.size();
  return plan;
}

}  // namespace kv::cli

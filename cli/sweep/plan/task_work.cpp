#include "kvcheck/cli/sweep/plan/task_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/sweep/plan/model_words.h"
#include "kvcheck/cli/tasks/task_run.h"

namespace kv::cli {
namespace {

// Bytes of rows, with the tree around them: from the sizes of files of two sweeps.
constexpr std::uint64_t of_file = 250;
constexpr std::uint64_t of_item = 100;
constexpr std::uint64_t of_cell = 60;
constexpr std::uint64_t of_answer = 50;

}  // namespace

Result<std::unique_ptr<TaskWork>> TaskWork::create(const std::string& path,
                                                   const PlanText& text,
                                                   std::span<const Cell> cells,
                                                   std::vector<std::string>& notes) {
  auto work = std::make_unique<TaskWork>();
  const auto opened = model_of(path, text);
  if (!opened) return opened.error();
  auto files = files_of_model(text);
  if (!files) return files.error();
  work->model_ = *std::move(files);
  const std::vector<Cell> specs = one_of_each_spec(cells);
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    const auto added = work->add(text, text.sources[i], specs, *opened, notes);
    if (!added) return at_field(path, text, place_in("files", i), added.error());
    work->planned_.push_back({.name = text.sources[i], .cells = all_indices(cells.size())});
  }
  return work;
}

Result<void> TaskWork::add(const PlanText& text,
                           const std::string& source,
                           std::span<const Cell> specs,
                           const std::shared_ptr<const OpenedModel>& opened,
                           std::vector<std::string>& notes) {
  const auto arguments = eval_arguments(text, source);
  if (!arguments) return arguments.error();
  auto plan = plan_tasks(*arguments, {.opened = opened, .cells = {specs.begin(), specs.end()}});
  if (!plan) return plan.error();
  for (const TaskPlan& other : files_) {
    if (other.about.checksum != plan->about.checksum) continue;
    return malformed("the items of '" + other.about.file + "' are given twice");
  }
  add_new(plan->notes, notes);
  const std::string sums =
      hexadecimal(plan->about.checksum) + " " + hexadecimal(checksum_of_tokens(*plan));
  checksums_ += " " + sums;
  plan->about.inputs = {.weights = model_.weights, .cell = cell_inputs(text, model_, 0, sums)};
  plan->cells.clear();
  files_.push_back(*std::move(plan));
  return {};
}

double TaskWork::cost(std::size_t source, std::span<const Cell> cells) const {
  const TaskPlan& file = files_[source];
  double cost = 0;
  for (const model::TaskStream& stream : file.tasks.streams) {
    for (const Cell& cell : cells) {
      cost += decoding_cost(file.opened->model.config, cell.spec, stream.prompt.size());
    }
  }
  return cost;
}

Result<reports::SweepResult> TaskWork::run(std::size_t source,
                                           std::span<const Cell> cells,
                                           const WorkOptions& options) const {
  TaskPlan plan = files_[source];
  plan.cells.assign(cells.begin(), cells.end());
  plan.threads = options.threads;
  auto result = run_tasks_of(
      plan,
      [&](double share, const std::string& /*spec*/) {
        return !options.progress || options.progress(share);
      },
      options.parts);
  if (!result) return result.error();
  return reports::SweepResult(*std::move(result));
}

std::vector<MemoryNeed> TaskWork::needs(std::size_t source,
                                        std::span<const Cell> cells,
                                        unsigned threads) const {
  const TaskPlan& file = files_[source];
  std::size_t longest = 0;
  for (const model::TaskStream& stream : file.tasks.streams) {
    longest = std::max(longest, model::tokens_of(stream, file.answering(cells.front())));
  }
  const std::size_t at_once =
      std::min<std::size_t>(threads, cells.size() * file.tasks.items.size());
  return decoder_needs(file.opened->model, cells, longest, at_once * model::decoders_of_answer);
}

std::uint64_t TaskWork::bytes_of_source(std::size_t source) const {
  return of_file + of_item * files_[source].tasks.items.size();
}

std::uint64_t TaskWork::bytes_of_cell(std::size_t source, const Cell& cell) const {
  return of_cell + bytes_of_spec(cell.spec) + of_answer * files_[source].tasks.items.size();
}

Result<double> TaskWork::pace(std::size_t source, std::span<const Cell> /*cells*/) const {
  TaskPlan plan = files_[source];
  plan.cells = {{.spec = dense_spec(), .seed = 1}};
  plan.threads = 1;
  plan.tasks.items.resize(1);
  plan.tasks.streams.resize(1);
  plan.about.items.resize(1);
  const auto begun = std::chrono::steady_clock::now();
  const auto done = run_tasks_of(plan, [](double, const std::string&) { return true; });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!done) return done.error();
  return took.count() / decoding_cost(plan.opened->model.config, dense_spec(),
                                      plan.tasks.streams[0].prompt.size());
}

}  // namespace kv::cli

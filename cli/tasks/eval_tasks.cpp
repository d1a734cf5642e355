#include "kvcheck/cli/tasks/eval_tasks.h"

#include <ostream>
#include <string>
#include <utility>

#include "kvcheck/cli/model/kept_work.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/cli/tasks/task_plan.h"
#include "kvcheck/cli/tasks/task_run.h"
#include "kvcheck/reports/tables/task_tables.h"

namespace kv::cli {
namespace {

std::string markdown_of(const TaskResult& result, const std::string& score) {
  std::string text = reports::task_line(result) + "\n\n";
  text += reports::to_markdown(reports::scores_table(result));
  const reports::Table groups = reports::groups_table(result, score);
  if (!groups.rows.empty()) text += "\n" + score + "\n\n" + reports::to_markdown(groups);
  return text;
}

void print(const TaskPlan& plan, const TaskResult& result, Streams& streams) {
  streams.out << reports::task_line(result) << "\n\n"
              << reports::to_text(reports::scores_table(result), streams.columns);
  const reports::Table groups = reports::groups_table(result, plan.score);
  if (!groups.rows.empty()) {
    streams.out << "\n"
                << plan.score << ", by group (items)\n\n"
                << reports::to_text(groups, streams.columns);
  }
  if (plan.quiet || plan.outputs.results.empty()) return;
  const std::string file = shell_word(plan.outputs.results);
  streams.out << "\nResults: " << plan.outputs.results << "\nNext: kvcheck compare " << file
              << " --measure " << plan.score << "\n";
}

// The checksums of the weights and of the tokens that were made of the items.
Result<RunToKeep> run_to_keep(const TaskPlan& plan) {
  auto items = items_of_path("model", plan.about.model);
  if (!items) return items.error();
  items->push_back(input_item("tasks", plan.about.file, plan.about.checksum));
  items->push_back(input_item("tokens", plan.about.file, checksum_of_tokens(plan)));
  return RunToKeep{.results = plan.outputs.results,
                   .command = plan.command,
                   .items = *std::move(items),
                   .resume = plan.resume,
                   .quiet = plan.quiet};
}

Result<void> write_outputs(const TaskPlan& plan, const TaskResult& result, Streams& streams) {
  const Outputs& outputs = plan.outputs;
  if (auto done = write_text(outputs.json, reports::task_json(result), streams); !done) return done;
  if (auto done = write_text(outputs.csv, reports::task_csv(result), streams); !done) return done;
  const std::string markdown = markdown_of(result, plan.score);
  if (auto done = write_text(outputs.markdown, markdown, streams); !done) return done;
  if (!outputs.on_standard_output()) print(plan, result, streams);
  return {};
}

}  // namespace

Result<void> run_eval_tasks(const Arguments& arguments, Streams& streams) {
  const Result<TaskPlan> plan = plan_tasks(arguments);
  if (!plan) return plan.error();
  if (!plan->quiet) {
    for (const std::string& note : plan->notes) streams.err << "Note: " << note << ".\n";
  }
  TaskResult result;
  KeptWork work{.results = plan->outputs.results, .quiet = plan->quiet};
  std::uint64_t weights = 0;
  work.about = [&] {
    auto about = run_to_keep(*plan);
    if (about) weights = checksum_of_items(about->items, "model");
    return about;
  };
  work.compute = [&](const WorkProgress& progress, PartStore* parts) -> Result<void> {
    auto computed = run_tasks_of(*plan, progress, parts);
    if (!computed) return computed.error();
    result = *std::move(computed);
    return {};
  };
  work.store = [&](reports::ResultsWriter& writer) {
    result.inputs.weights = weights;
    return writer.add(result);
  };
  work.write = [&] { return write_outputs(*plan, result, streams); };
  return run_kept(work, streams);
}

}  // namespace kv::cli

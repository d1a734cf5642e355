#include "kvcheck/cli/evaluate/eval_open_loop.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {
namespace {

// A temporary trace file, removed as soon as it is open. Its mapped bytes are still readable.
Result<Trace> dense_trace(const EvalPlan& plan, std::span<const model::TokenId> stream) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) return io_error("there is no folder for temporary files: " + failed.message());
  const std::string path =
      (folder / ("kvcheck-open-loop-" + std::to_string(::getpid()) + ".safetensors")).string();
  model::RecordOptions options;
  options.number = Number::f32;
  const auto report = [](double) { return !interrupted(); };
  const auto done =
      model::record(plan.opened.model, *plan.opened.tokenizer, stream, options, path, report);
  Result<Trace> trace = done ? open_trace(path) : done.error();
  std::filesystem::remove(path, failed);
  return trace;
}

Result<void> replay_text(const EvalPlan& plan, const EvalText& text, ClosedLoopResult& result) {
  std::vector<double> mass(plan.cells.size(), 0);
  for (const auto& stream : text.streams) {
    const Result<Trace> trace = dense_trace(plan, stream);
    if (!trace) return trace.error();
    ReplayOptions options;
    options.threads = plan.threads;
    options.series_points = 1;
    options.residency_entries = 0;
    options.progress = [](double) { return !interrupted(); };
    const Result<ReplayResult> replayed = replay(*trace, plan.cells, options);
    if (!replayed) return replayed.error();
    const double share = static_cast<double>(stream.size()) / static_cast<double>(result.tokens);
    for (std::size_t i = 0; i < mass.size(); ++i) {
      mass[i] += share * reports::means_of(replayed->cells[i]).retained_mass;
    }
  }
  for (std::size_t i = 0; i < mass.size(); ++i) result.cells[i].retained_mass = mass[i];
  return {};
}

}  // namespace

Result<void> add_open_loop(const EvalPlan& plan, std::vector<ClosedLoopResult>& results) {
  const std::size_t context = plan.opened.model.config.context;
  bool any = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].longest > context) continue;
    any = true;
    if (auto done = replay_text(plan, plan.texts[i], results[i]); !done) return done;
  }
  if (any) return {};
  return usage_error("--open-loop replays dense runs, and every text is longer than the " +
                     std::to_string(context) +
                     " tokens that the model was trained on; expected --windows " +
                     std::to_string(context) + " or fewer --tokens");
}

}  // namespace kv::cli

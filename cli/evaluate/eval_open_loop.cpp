#include "kvcheck/cli/evaluate/eval_open_loop.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "kvcheck/cli/evaluate/evaluate_parts.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {
namespace {

// Removes a file, also if memory runs out before that.
struct RemovedFile {
  explicit RemovedFile(std::string of) : path(std::move(of)) {}

  RemovedFile(const RemovedFile&) = delete;
  RemovedFile& operator=(const RemovedFile&) = delete;

  ~RemovedFile() { ::unlink(path.c_str()); }

  std::string path;
};

// A temporary trace file, removed as soon as it is open. Its mapped bytes are still readable.
Result<Trace> dense_trace(const EvalPlan& plan,
                          std::span<const model::TokenId> stream,
                          const std::function<bool()>& continues) {
  static std::atomic<std::uint64_t> number = 0;  // threads of a sweep record at the same time
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) return io_error("there is no folder for temporary files: " + failed.message());
  const RemovedFile file((folder / ("kvcheck-open-loop-" + std::to_string(::getpid()) + "-" +
                                    std::to_string(number++) + ".safetensors"))
                             .string());
  model::RecordOptions options;
  options.number = Number::f32;
  options.marks = plan.options.marks;
  const auto report = [&](double) { return continues(); };
  const auto done = model::record(plan.opened->model, *plan.opened->tokenizer, stream, options,
                                  file.path, report);
  if (!done) return done.error();
  return open_trace(file.path);
}

// The cells as a replay takes them: it has the recorded keys and values, whatever a model stores.
std::vector<Cell> without_storage(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.spec.storage.reset();
  return cells;
}

// Of each cell the mean retained mass over the heads, and the queries from the first loss on.
Result<std::vector<OpenLoop>> replay_of(const EvalPlan& plan,
                                        std::span<const model::TokenId> stream,
                                        const std::function<bool()>& continues) {
  const Result<Trace> trace = dense_trace(plan, stream, continues);
  if (!trace) return trace.error();
  ReplayOptions options;
  options.threads = plan.threads;
  options.series_points = 1;
  options.residency_entries = 0;
  options.progress = [&](double) { return continues(); };
  const Result<ReplayResult> replayed = replay(*trace, without_storage(plan.cells), options);
  if (!replayed) return replayed.error();
  std::vector<OpenLoop> found;
  for (const CellResult& cell : replayed->cells) {
    const reports::AfterLoss after(cell.cell.spec, replayed->trace);
    found.push_back({.retained_mass = reports::means_of(cell).retained_mass,
                     .queries_after = stream.size() - after.first()});
  }
  return found;
}

Result<void> replay_text(const EvalPlan& plan,
                         const EvalText& text,
                         const std::function<bool()>& continues,
                         PartStore& parts,
                         ClosedLoopResult& result) {
  std::vector<double> mass(plan.cells.size(), 0);
  for (std::size_t stream = 0; stream < text.streams.size(); ++stream) {
    const std::string key = "stream " + std::to_string(stream);
    std::optional<std::vector<OpenLoop>> found = kept_replay(parts, key, plan.cells.size());
    if (!found) {
      Result<std::vector<OpenLoop>> computed = replay_of(plan, text.streams[stream], continues);
      if (!computed) return computed.error();
      found = *std::move(computed);
      parts.keep({{key, bytes_of(*found)}});
    }
    const double share =
        static_cast<double>(text.streams[stream].size()) / static_cast<double>(result.tokens);
    for (std::size_t i = 0; i < mass.size(); ++i) {
      mass[i] += share * (*found)[i].retained_mass;
      result.cells[i].queries_after += (*found)[i].queries_after;
    }
  }
  for (std::size_t i = 0; i < mass.size(); ++i) result.cells[i].retained_mass = mass[i];
  return {};
}

}  // namespace

Result<void> add_open_loop(const EvalPlan& plan,
                           std::vector<ClosedLoopResult>& results,
                           const std::function<bool()>& continues,
                           PartStore* parts) {
  const std::size_t context = plan.opened->model.config.context;
  bool any = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].longest > context) continue;
    any = true;
    PartsUnder of_text(parts, "open loop " + std::to_string(i));
    if (auto done = replay_text(plan, plan.texts[i], continues, of_text, results[i]); !done) {
      return done;
    }
  }
  if (any) return {};
  return usage_error("--open-loop replays dense runs, and every text is longer than the " +
                     std::to_string(context) +
                     " tokens that the model was trained on; expected --windows " +
                     std::to_string(context) + " or fewer --tokens");
}

}  // namespace kv::cli

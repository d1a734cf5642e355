#include "kvcheck/cli/evaluate/eval_run.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/cli/evaluate/evaluate_parts.h"
#include "kvcheck/model/run/evaluate.h"

namespace kv::cli {
namespace {

struct EvalJob {
  const EvalText* text = nullptr;
  const Cell* cell = nullptr;
  double share = 0;  // of all tokens to be read
  double done = 0;   // of this job
  std::string key{};
  std::optional<ClosedLoopCell> result{};
};

std::size_t tokens_of(const EvalText& text) {
  std::size_t tokens = 0;
  for (const auto& stream : text.streams) tokens += stream.size();
  return tokens;
}

class EvalRun {
 public:
  EvalRun(const EvalPlan& plan, const WorkProgress& progress, PartStore* parts)
      : plan_(plan), progress_(progress), parts_(parts) {
    double all = 0;
    for (const EvalText& text : plan.texts) all += static_cast<double>(tokens_of(text));
    all *= static_cast<double>(plan.cells.size());
    for (const EvalText& text : plan.texts) {
      const double share = static_cast<double>(tokens_of(text)) / all;
      for (const Cell& cell : plan.cells) {
        jobs_.push_back({.text = &text,
                         .cell = &cell,
                         .share = share,
                         .key = "evaluation " + std::to_string(jobs_.size())});
      }
    }
  }

  Result<std::vector<ClosedLoopResult>> all() {
    // Where there are fewer jobs than threads, several threads share each pass of a job.
    const std::size_t at_once = std::min<std::size_t>(plan_.threads, jobs_.size());
    for (std::size_t i = 0; i < at_once; ++i) {
      const bool more = i < plan_.threads % at_once;
      teams_.push_back(std::make_shared<Team>(plan_.threads / at_once + (more ? 1 : 0)));
    }
    const Result<void> done = run_tasks(
        jobs_.size(), at_once,
        [this](const RunningTask& running) { return run(jobs_[running.index()], running); },
        {.stop = stop_.get_token()});
    if (!done) return done.error();
    if (stop_.stop_requested()) return io_error("stopped");
    return joined();
  }

 private:
  Result<void> run(EvalJob& job, const RunningTask& running) {
    if (parts_ != nullptr) {
      job.result = kept_cell(*parts_, job.key, *job.cell);
      if (job.result) {
        reported(job, 1, running);
        return {};
      }
    }
    model::DecoderOptions options = plan_.options;
    options.seed = job.cell->seed;
    options.team = teams_[running.worker()];
    const Spec& spec = job.cell->spec;
    const auto report = [&](double share) { return reported(job, share, running); };
    const auto done =
        model::evaluate(plan_.opened->model, spec, job.text->streams, options, report);
    if (!done) return Error{done.error().kind, spec.label() + ": " + done.error().message};
    job.result =
        model::closed_loop_cell(*job.cell, *done, job.text->questions, plan_.about.series_width);
    if (parts_ != nullptr) parts_->keep({{job.key, bytes_of(*job.result)}});
    return {};
  }

  bool reported(EvalJob& job, double done, const RunningTask& running) {
    const std::lock_guard lock(mutex_);
    share_ += (done - job.done) * job.share;
    job.done = done;
    if (!progress_(share_, job.cell->spec.label())) stop_.request_stop();
    return !running.stopped();
  }

  std::vector<ClosedLoopResult> joined() {
    std::vector<ClosedLoopResult> results;
    std::size_t job = 0;
    for (const EvalText& text : plan_.texts) {
      ClosedLoopResult& result = results.emplace_back(plan_.about);
      result.window = text.window;
      result.streams = text.streams.size();
      result.tokens = tokens_of(text);
      for (const auto& stream : text.streams) {
        result.longest = std::max(result.longest, stream.size());
      }
      for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
        result.cells.push_back(*std::move(jobs_[job++].result));
      }
    }
    return results;
  }

  const EvalPlan& plan_;
  const WorkProgress& progress_;
  PartStore* parts_;
  std::vector<EvalJob> jobs_;
  std::vector<std::shared_ptr<Team>> teams_;  // by worker
  std::stop_source stop_;
  std::mutex mutex_;
  double share_ = 0;  // of all tokens, that are read
};

}  // namespace

Result<std::vector<ClosedLoopResult>> run_eval(const EvalPlan& plan,
                                               const WorkProgress& progress,
                                               PartStore* parts) {
  return EvalRun(plan, progress, parts).all();
}

}  // namespace kv::cli

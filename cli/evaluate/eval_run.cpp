#include "kvcheck/cli/evaluate/eval_run.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/cli/evaluate/cell_groups.h"
#include "kvcheck/cli/evaluate/evaluate_parts.h"
#include "kvcheck/model/run/evaluate.h"

namespace kv::cli {
namespace {

// Cells of one text that read the weights together.
struct EvalJob {
  const EvalText* text = nullptr;
  std::span<const Cell> cells;
  double share = 0;  // of all tokens to be read
  double done = 0;   // of this job
  std::vector<std::string> keys{};
  std::vector<std::optional<ClosedLoopCell>> results{};
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
    std::size_t cells = 0;
    const auto groups = cell_groups(plan.cells, plan.large_weights);
    for (const EvalText& text : plan.texts) {
      for (const auto group : groups) {
        EvalJob& job = jobs_.emplace_back();
        job.text = &text;
        job.cells = group;
        job.share = static_cast<double>(tokens_of(text) * group.size()) / all;
        job.results.resize(group.size());
        for (std::size_t i = 0; i < group.size(); ++i) {
          job.keys.push_back("evaluation " + std::to_string(cells++));
        }
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
  // The job's cells that no earlier run has finished, by their places in it.
  std::vector<std::size_t> left_of(EvalJob& job) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < job.cells.size(); ++i) {
      if (parts_ != nullptr) job.results[i] = kept_cell(*parts_, job.keys[i], job.cells[i]);
      if (!job.results[i]) left.push_back(i);
    }
    return left;
  }

  Result<void> run(EvalJob& job, const RunningTask& running) {
    const std::vector<std::size_t> left = left_of(job);
    if (left.empty()) {
      reported(job, 1, running);
      return {};
    }
    std::vector<Cell> cells;
    for (const std::size_t i : left) cells.push_back(job.cells[i]);
    model::DecoderOptions options = plan_.options;
    options.team = teams_[running.worker()];
    const double part = static_cast<double>(left.size()) / static_cast<double>(job.cells.size());
    const auto report = [&](double share) {
      return reported(job, 1 - part * (1 - share), running);
    };
    const auto done =
        model::evaluate_together(plan_.opened->model, cells, job.text->streams, options, report);
    if (!done) return done.error();
    for (std::size_t i = 0; i < left.size(); ++i) {
      job.results[left[i]] = model::closed_loop_cell(cells[i], (*done)[i], job.text->questions,
                                                     plan_.about.series_width);
      if (parts_ == nullptr) continue;
      parts_->keep({{job.keys[left[i]], bytes_of(*job.results[left[i]])}});
    }
    return {};
  }

  bool reported(EvalJob& job, double done, const RunningTask& running) {
    const std::lock_guard lock(mutex_);
    share_ += (done - job.done) * job.share;
    job.done = done;
    if (!progress_(share_, job.cells.front().spec.label())) stop_.request_stop();
    return !running.stopped();
  }

  std::vector<ClosedLoopResult> joined() {
    std::vector<ClosedLoopResult> results;
    auto job = jobs_.begin();
    for (const EvalText& text : plan_.texts) {
      ClosedLoopResult& result = results.emplace_back(plan_.about);
      result.window = text.window;
      result.streams = text.streams.size();
      result.tokens = tokens_of(text);
      for (const auto& stream : text.streams) {
        result.longest = std::max(result.longest, stream.size());
      }
      for (; job != jobs_.end() && job->text == &text; ++job) {
        for (auto& cell : job->results) result.cells.push_back(*std::move(cell));
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

#include "kvcheck/cli/tasks/task_run.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/base/threads/team.h"

namespace kv::cli {
namespace {

std::vector<std::byte> bytes_of(const model::Answered& answered) {
  PackedWriter writer;
  writer.number(answered.kv_bytes);
  const TaskAnswer& answer = answered.answer;
  writer.number(answer.exact ? 1 : 0);
  writer.number(answer.contains ? 1 : 0);
  writer.real(answer.f1);
  writer.real(answer.loss);
  writer.number(answer.rank);
  writer.number(answer.text.size());
  for (const char letter : answer.text) writer.number(static_cast<unsigned char>(letter));
  return writer.take();
}

std::optional<model::Answered> kept_answer(const PartStore& parts, const std::string& key) {
  PackedReader reader(parts.find(key).value_or(std::span<const std::byte>()));
  model::Answered answered;
  answered.kv_bytes = reader.number();
  TaskAnswer& answer = answered.answer;
  answer.exact = reader.number() == 1;
  answer.contains = reader.number() == 1;
  answer.f1 = reader.real();
  answer.loss = reader.real();
  answer.rank = reader.number();
  answer.text.resize(reader.count());
  for (char& letter : answer.text) letter = static_cast<char>(reader.number());
  if (!reader.whole()) return std::nullopt;
  return answered;
}

class TaskItemsRun {
 public:
  TaskItemsRun(const TaskPlan& plan, const WorkProgress& progress, PartStore* parts)
      : plan_(plan), progress_(progress), parts_(parts) {
    answered_.resize(plan.cells.size() * plan.tasks.items.size());
    for (const model::TaskStream& stream : plan.tasks.streams) {
      all_ += static_cast<double>(stream.prompt.size());
    }
    all_ *= static_cast<double>(plan.cells.size());
  }

  Result<TaskResult> all() {
    const std::size_t at_once = std::min<std::size_t>(plan_.threads, answered_.size());
    for (std::size_t i = 0; i < at_once; ++i) {
      const bool more = i < plan_.threads % at_once;
      teams_.push_back(std::make_shared<Team>(plan_.threads / at_once + (more ? 1 : 0)));
    }
    const Result<void> done = run_tasks(answered_.size(), at_once,
                                        [this](const RunningTask& running) { return run(running); },
                                        {.stop = stop_.get_token()});
    if (!done) return done.error();
    if (stop_.stop_requested()) return io_error("stopped");
    return joined();
  }

 private:
  Result<void> run(const RunningTask& running) {
    const Cell& cell = plan_.cells[running.index() / plan_.tasks.items.size()];
    const std::size_t item = running.index() % plan_.tasks.items.size();
    const std::string key = "answer " + std::to_string(running.index());
    std::optional<model::Answered>& place = answered_[running.index()];
    if (parts_ != nullptr) place = kept_answer(*parts_, key);
    if (!place) {
      model::Answering how = plan_.answering(cell);
      how.options.team = teams_[running.worker()];
      auto answered = model::answer_task(plan_.tasks.items[item], plan_.tasks.streams[item], how);
      if (!answered) {
        return Error{answered.error().kind, cell.spec.label() + ", item '" +
                                                plan_.tasks.items[item].id +
                                                "': " + answered.error().message};
      }
      place = *std::move(answered);
      if (parts_ != nullptr) parts_->keep({{key, bytes_of(*place)}});
    }
    report(plan_.tasks.streams[item].prompt.size(), cell.spec);
    return {};
  }

  void report(std::size_t tokens, const Spec& spec) {
    const std::lock_guard lock(mutex_);
    done_ += static_cast<double>(tokens);
    if (!progress_(done_ / all_, spec.label())) stop_.request_stop();
  }

  // Errors: a file of the model that changed while it was read.
  Result<TaskResult> joined() {
    if (Result<void> same = plan_.opened->model.unchanged(); !same) return same.error();
    TaskResult result = plan_.about;
    std::size_t at = 0;
    for (const Cell& cell : plan_.cells) {
      TaskCell& row = result.cells.emplace_back(TaskCell{.cell = cell});
      for (std::size_t i = 0; i < plan_.tasks.items.size(); ++i) {
        model::Answered& answered = *answered_[at++];
        row.kv_bytes = std::max(row.kv_bytes, answered.kv_bytes);
        row.answers.push_back(std::move(answered.answer));
      }
    }
    return result;
  }

  const TaskPlan& plan_;
  const WorkProgress& progress_;
  PartStore* parts_;
  std::vector<std::optional<model::Answered>> answered_;  // by cell, then item
  std::vector<std::shared_ptr<Team>> teams_;              // by worker
  std::stop_source stop_;
  std::mutex mutex_;
  double done_ = 0;  // tokens of prompts
  double all_ = 0;
};

}  // namespace

Result<TaskResult> run_tasks_of(const TaskPlan& plan,
                                const WorkProgress& progress,
                                PartStore* parts) {
  return TaskItemsRun(plan, progress, parts).all();
}

}  // namespace kv::cli

// Answers to the items of the task files of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/plan/model_words.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/cli/sweep/plan/planned_work.h"
#include "kvcheck/cli/tasks/task_plan.h"

namespace kv::cli {

class TaskWork final : public PlannedWork {
 public:
  // Opens the model and every task file, and checks each cell on their items. Errors name the field
  // of the plan: what `kvcheck eval --tasks` would refuse, and a file whose items were given
  // already. Notes of that command are added to `notes`.
  static Result<std::unique_ptr<TaskWork>> create(const std::string& path,
                                                  const PlanText& text,
                                                  std::span<const Cell> cells,
                                                  std::vector<std::string>& notes);

  [[nodiscard]] std::span<const PlannedSource> sources() const override { return planned_; }

  [[nodiscard]] std::string inputs() const override { return model_.items + checksums_; }

  [[nodiscard]] std::uint64_t inputs_of_cells(std::size_t source) const override {
    return files_[source].about.inputs.cell;
  }

  [[nodiscard]] std::size_t most_cells() const override { return 1; }

  [[nodiscard]] double cost(std::size_t source, std::span<const Cell> cells) const override;
  [[nodiscard]] Result<reports::SweepResult> run(std::size_t source,
                                                 std::span<const Cell> cells,
                                                 const WorkOptions& options) const override;
  [[nodiscard]] std::vector<MemoryNeed> needs(std::size_t source,
                                              std::span<const Cell> cells,
                                              unsigned threads) const override;
  [[nodiscard]] std::uint64_t bytes_of_source(std::size_t source) const override;
  [[nodiscard]] std::uint64_t bytes_of_cell(std::size_t source, const Cell& cell) const override;
  [[nodiscard]] Result<double> pace(std::size_t source, std::span<const Cell> cells) const override;

 private:
  Result<void> add(const PlanText& text,
                   const std::string& source,
                   std::span<const Cell> specs,
                   const std::shared_ptr<const OpenedModel>& opened,
                   std::vector<std::string>& notes);

  std::vector<TaskPlan> files_;  // without cells
  ModelFiles model_;
  std::string checksums_;  // of files and tokens
  std::vector<PlannedSource> planned_;
};

}  // namespace kv::cli

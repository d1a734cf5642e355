// Timings of a model under the cells of a plan.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/cli/sweep/plan/planned_work.h"
#include "kvcheck/model/decoder/decoder.h"

namespace kv::cli {

// Its sources are run 1 of every length, then run 2 of every length, and so on. All cells of a
// source are one block, so that they are timed on one machine, right after each other.
class SpeedWork final : public PlannedWork {
 public:
  // Opens the model and checks each cell. Errors name the field of the plan: what `kvcheck speed`
  // would refuse.
  static Result<std::unique_ptr<SpeedWork>> create(const std::string& path,
                                                   const PlanText& text,
                                                   std::span<const Cell> cells);

  [[nodiscard]] std::span<const PlannedSource> sources() const override { return planned_; }

  [[nodiscard]] std::string inputs() const override { return inputs_; }

  [[nodiscard]] std::size_t most_cells() const override { return cells_; }

  [[nodiscard]] bool timed() const override { return true; }

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
  [[nodiscard]] std::size_t length_of(std::size_t source) const;
  [[nodiscard]] std::size_t repetition_of(std::size_t source) const;

  PlannedTimes times_;
  TimingResult about_;  // without cells
  model::LanguageModel model_;
  model::DecoderOptions options_;
  std::size_t cells_ = 0;  // of a source
  std::string inputs_;
  std::vector<PlannedSource> planned_;
};

}  // namespace kv::cli

// Evaluations of the texts of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/cli/sweep/plan/model_words.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/cli/sweep/plan/planned_work.h"

namespace kv::cli {

class EvalWork final : public PlannedWork {
 public:
  // Has no texts yet; see create().
  explicit EvalWork(const PlanText& text) : text_(text) {}

  // Opens the model and every text, and checks each cell on them. Errors name the field of the
  // plan: what `kvcheck eval` would refuse, a text whose words were given already, and a spec under
  // which the model cannot run. Notes of `kvcheck eval` are added to `notes`.
  static Result<std::unique_ptr<EvalWork>> create(const std::string& path,
                                                  const PlanText& text,
                                                  std::span<const Cell> cells,
                                                  std::vector<std::string>& notes);

  [[nodiscard]] std::span<const PlannedSource> sources() const override { return planned_; }

  [[nodiscard]] std::string inputs() const override { return model_.items + checksums_; }

  [[nodiscard]] std::uint64_t inputs_of_cells(std::size_t source) const override {
    return text_of(source).inputs[source % text_.cuts.windows.size()];
  }

  // Cells share nothing but the recording of the dense run for the open loop.
  [[nodiscard]] std::size_t most_cells() const override { return text_.cuts.open_loop ? 8 : 1; }

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
  // One file, planned as `kvcheck eval` plans it.
  struct Text {
    EvalPlan plan;  // without cells and texts
    std::vector<EvalText> cuts;
    std::vector<std::uint64_t> inputs;  // of cells, by cut
  };

  Result<void> add(const std::string& source,
                   std::span<const Cell> specs,
                   const std::shared_ptr<const OpenedModel>& opened,
                   std::vector<std::string>& notes);
  [[nodiscard]] Result<void> check_specs(std::span<const Cell> specs) const;

  [[nodiscard]] const Text& text_of(std::size_t source) const {
    return texts_[source / text_.cuts.windows.size()];
  }

  [[nodiscard]] const EvalText& cut_of(std::size_t source) const {
    return text_of(source).cuts[source % text_.cuts.windows.size()];
  }

  // Whether the open loop is measured on the source: its streams are not longer than those that the
  // model was trained on.
  [[nodiscard]] bool opens_loop(std::size_t source) const;

  PlanText text_;
  std::vector<Text> texts_;
  ModelFiles model_;
  std::string checksums_;               // of texts and tokens
  std::vector<PlannedSource> planned_;  // by text, then window
};

}  // namespace kv::cli

// What plans of evaluations and of tasks share: the options of `kvcheck eval`, which opens and
// checks models, texts and items, and the cost of decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// The arguments of `kvcheck eval` for one source of the plan, without policies, budgets and seeds.
Result<Arguments> eval_arguments(const PlanText& plan, const std::string& source);

// The model of the plan in this file, opened. Errors name the field.
Result<std::shared_ptr<const OpenedModel>> model_of(const std::string& path, const PlanText& plan);

// The files of a model with their checksums.
struct ModelFiles {
  std::string items{};        // as text, with their names
  std::uint64_t weights = 0;  // as in ModelInputs
};

// Cost: reads all weights.
Result<ModelFiles> files_of_model(const PlanText& plan);

// What decides the cells of one source of the plan, as ModelInputs::cell: the model, the settings
// of the plan, the size of windows, and `sums`, the checksums of the source. Lists of sources,
// policies, budgets and seeds are not part of it. Never 0.
std::uint64_t cell_inputs(const PlanText& plan,
                          const ModelFiles& model,
                          std::size_t window,
                          std::string_view sums);

// Never evicts.
const Spec& dense_spec();

// Adds the notes that are not among them yet.
void add_new(const std::vector<std::string>& notes, std::vector<std::string>& all);

// 0 to count - 1.
std::vector<std::size_t> all_indices(std::size_t count);

// One cell for each spec: what is checked for one seed holds for all.
std::vector<Cell> one_of_each_spec(std::span<const Cell> cells);

// The cost of reading a stream of so many tokens under the spec, in multiplications.
double decoding_cost(const model::ModelConfig& config, const Spec& spec, std::size_t tokens);

// About how many bytes of a results file the texts of a spec take.
std::uint64_t bytes_of_spec(const Spec& spec);

}  // namespace kv::cli

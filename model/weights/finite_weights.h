// Which weight of a model is no finite number.
#pragma once

#include <optional>
#include <string>

#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// The first weight that is NaN or infinite: its file, its place in the model and its value, as a
// part of a sentence, or nothing if all are finite. Weights are not checked when a model is opened,
// because that would read all of it; this is for a model whose logits are no numbers.
// Cost: reads all weights.
std::optional<std::string> weight_not_finite(const LanguageModel& model);

// What to say of a run that computed an infinite number or none: `what`, and which weight is none,
// if one is. Cost: reads all weights.
Error computed_not_finite(const LanguageModel& model, const std::string& what);

}  // namespace kv::model

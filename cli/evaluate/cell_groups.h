// Which cells of an evaluation read the weights of a model together.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// Whether the weights are larger than a processor's cache, so that most of the time of a step of
// few tokens is reading them.
bool large_weights(const model::LanguageModel& model);

// The cells in groups, in their order. With large weights a group has several cells if a step of
// each reads few tokens. Results do not depend on the groups, which end together.
std::vector<std::span<const Cell>> cell_groups(std::span<const Cell> cells, bool large_weights);

}  // namespace kv::cli

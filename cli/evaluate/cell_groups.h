// Which cells of an evaluation read the weights of a model together.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// The cells in groups, in their order. A group has several cells where a step of each reads few
// tokens and the weights are larger than a processor's cache: most of the time of such a step is
// reading them. Results do not depend on the groups, which end together.
std::vector<std::span<const Cell>> cell_groups(const model::LanguageModel& model,
                                               std::span<const Cell> cells);

}  // namespace kv::cli

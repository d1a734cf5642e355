// The matrices of a layer that are stored anew, in the order of their kept codes.
#pragma once

#include <array>
#include <utility>

#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// A layer's member, and its name in messages. An MLP without a gate has no data for it.
inline constexpr std::array<std::pair<Linear LayerWeights::*, const char*>, 7> layer_matrices = {{
    {&LayerWeights::query, "query"},
    {&LayerWeights::key, "key"},
    {&LayerWeights::value, "value"},
    {&LayerWeights::output, "output"},
    {&LayerWeights::gate, "gate"},
    {&LayerWeights::up, "up"},
    {&LayerWeights::down, "down"},
}};

}  // namespace kv::model

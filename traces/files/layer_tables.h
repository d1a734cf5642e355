// The tensors of version 2 that say something of a layer: frequencies, sinks and slopes.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// Copies the numbers of the layer's tensors that are not null into its rules. The error names a
// tensor of another type or shape than one list of numbers.
Result<void> read_layer_tables(const SafetensorsTensor* frequencies,
                               const SafetensorsTensor* sinks,
                               const SafetensorsTensor* slopes,
                               LayerRules& rules);

}  // namespace kv

// What a trace of queries, keys and values says of a model's attention.
#pragma once

#include <cstddef>

#include "kvcheck/model/weights/config.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {

// Fills in the rotation and the rules of info.layers for a text of `tokens`: tables of frequencies
// where the rotation is scaled or differs from the first layer's, windows shorter than the text,
// and soft caps. Where none of these is there, the trace needs no version 2. Scales of attention
// are not among the rules: queries are recorded as the decoder has them, which contain the scales.
void state_attention(const ModelConfig& config, std::size_t tokens, TraceInfo& info);

}  // namespace kv::model

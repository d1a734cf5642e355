// The tensors beside the numbers of the layers: tokens, text, text_ends, nll, queries; and what
// version 2 says of a layer: frequencies, sinks, slopes.
#pragma once

#include <cstdint>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// True for the names that read_transcript reads.
bool is_transcript_tensor(std::string_view name);

struct TranscriptTensors {
  std::vector<std::int32_t> token_ids;
  Transcript transcript;
};

// Copies those tensors that the file has and checks them against the number of tokens.
Result<TranscriptTensors> read_transcript(const Safetensors& file, std::size_t tokens);

// Copies the numbers of the layer's tensors that are not null into its rules. The error names a
// tensor of another type or shape than one list of numbers.
Result<void> read_layer_tables(const SafetensorsTensor* frequencies,
                               const SafetensorsTensor* sinks,
                               const SafetensorsTensor* slopes,
                               LayerRules& rules);

// Copies the recorded queries from their tensor, which is null if all are, and checks them against
// the trace's tokens and the design that its metadata name.
Result<void> read_queries(const SafetensorsTensor* tensor, TraceInfo& info);

}  // namespace kv

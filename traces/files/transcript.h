// The tensors beside the layers: tokens, text, text_ends, nll.
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

}  // namespace kv

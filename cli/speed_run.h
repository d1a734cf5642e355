// Timing a decoder: a prompt of some length, then tokens one by one.
#pragma once

#include <cstddef>

#include "base/error.h"
#include "model/decoder.h"

namespace kv::cli {

struct SpeedRow {
  std::size_t length = 0;      // tokens of the prompt
  double first_token_s = 0;    // from the empty cache to the prompt's last logits
  double token_s = 0;          // median time of a token after it
  double attention_s = 0;      // median time that such a token spends in attention
  std::size_t kv_bytes = 0;    // of keys and values held at the end
  std::size_t peak_bytes = 0;  // of memory while it ran; 0 where the system does not say
};

// Feeds `length` tokens in chunks of spec.chunk, then `tokens` more one by one. What the tokens are
// does not matter; they are the same every time. Requires length, tokens >= 1. Errors are the
// decoder's, and being interrupted.
Result<SpeedRow> time_decoder(const LanguageModel& model,
                              const Spec& spec,
                              DecoderOptions options,
                              std::size_t length,
                              std::size_t tokens);

}  // namespace kv::cli

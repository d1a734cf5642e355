// Times a decoder: a prompt of some length, then tokens one by one.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::cli {

// Feeds a chunk of the prompt and one more token without timing them: the first pass of a process
// reads the weights from their file, and starts threads. Requires length, tokens >= 1. Errors:
// those of the decoder.
Result<void> warm_up(const model::LanguageModel& model,
                     const Cell& cell,
                     model::DecoderOptions options,
                     std::size_t length,
                     std::size_t tokens);

// Feeds `length` tokens in chunks of the spec's size, then `tokens` more one by one. The times do
// not depend on which tokens these are; they are the same every time. Requires length, tokens >= 1.
// Errors: those of the decoder, and an interruption.
Result<TimedCell> time_decoder(const model::LanguageModel& model,
                               const Cell& cell,
                               model::DecoderOptions options,
                               std::size_t length,
                               std::size_t tokens);

// The one in the middle, or the mean of the two of an even count. Requires a value.
double median(std::vector<double> values);

// What time_decoder() would say of this model under this spec, without running it.
Result<void> check_timed(const model::LanguageModel& model,
                         const Cell& cell,
                         model::DecoderOptions options,
                         std::size_t length,
                         std::size_t tokens);

}  // namespace kv::cli

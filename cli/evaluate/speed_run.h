// Timing a decoder: a prompt of some length, then tokens one by one.
#pragma once

#include <cstddef>

#include "kvcheck/base/error.h"
#include "kvcheck/model/run/decoder.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::cli {

// Feeds `length` tokens in chunks of the spec's, then `tokens` more one by one. What the tokens are
// does not matter; they are the same every time. Requires length, tokens >= 1. Errors are the
// decoder's, and being interrupted.
Result<TimedCell> time_decoder(const model::LanguageModel& model,
                               const Cell& cell,
                               model::DecoderOptions options,
                               std::size_t length,
                               std::size_t tokens);

}  // namespace kv::cli

// What runs of a model hold in memory, for --memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/cli/options/memory.h"
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// Upper bounds of what `threads` decoders hold at one time, each of which reads a stream of up to
// `tokens` tokens under one of the cells. At most about three times what they use. The weights are
// in memory already when this can be asked.
std::vector<MemoryNeed> decoder_needs(const model::LanguageModel& model,
                                      std::span<const Cell> cells,
                                      std::size_t tokens,
                                      std::size_t threads);

}  // namespace kv::cli

// Presets that compress a prompt once and then let the cache grow, in the protocol of their papers.
#pragma once

#include <span>

#include "kvcheck/sim/spec/presets.h"

namespace kv {

// The presets whose names end in -prompt. Those that end in -hold select tokens by the same rule,
// but hold a budget for ever.
std::span<const Preset> prompt_presets();

}  // namespace kv

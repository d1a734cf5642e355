// How many rows a query of one unit can see at most, whichever tokens a policy keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kv {

struct Spec;

// [tokens]: for every query of a stream of that length the most rows that it can see, its own
// included, with the spec's budget, protection, timing, slack, visibility and chunk.
//
// Where queries choose pages they are as many as each query head attends to, whichever it chooses.
//
// Else they come from the cache itself, run with a policy that drops the oldest and no more than it
// must. Every policy of the registry sees at most so many. For timing=lazy that needs a policy that
// evicts exactly as many as it must (the claim constant-size, or no middle): one that evicts more
// trims at other times. Without that claim the limits of lazy are those of the saw-tooth's upper
// end; so are those of a shared budget, which trims when the layer does. Give the roomiest spec of
// such a unit (sim/spec/budgets.h). Cost: O(tokens * middle).
std::vector<std::uint32_t> visible_limits(const Spec& spec, std::size_t tokens);

}  // namespace kv

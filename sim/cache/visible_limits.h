// The most rows that a query of one unit can see, whichever tokens a policy keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kv {

struct Spec;

// [tokens]: for every query of a stream of that length the most rows that it can see, its own row
// included, with the spec's budget, protection, timing, slack, visibility and chunk.
//
// If queries select pages, the limits are the numbers of tokens in the selected pages.
//
// Otherwise the limits come from the cache itself, run with a policy that evicts the oldest tokens
// and no more than it must. No policy of the registry sees more. For timing=lazy this is true only
// of policies that evict exactly as many tokens as they must (with the claim constant-size, or
// without a middle); a policy that evicts more trims at other times. For policies without that
// claim, the limits of timing=lazy are the largest size that the cache can have at that place in a
// chunk. The same is true of a shared budget, which trims when the layer does: pass the roomiest
// spec of such a unit (sim/spec/budgets.h). Cost: O(tokens * middle).
std::vector<std::uint32_t> visible_limits(const Spec& spec, std::size_t tokens);

}  // namespace kv

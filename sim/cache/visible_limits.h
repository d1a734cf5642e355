// The most rows that a query of one unit can see, whichever tokens a policy keeps, and the first
// query that cannot see everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/spec/budgets.h"

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

// Where a cache begins to lose tokens.
struct FirstLoss {
  // The first query that cannot see every token up to itself; the stream's length if every query
  // can.
  Position query = 0;

  // The sum over the queries before it of the rows in memory while they attend.
  double stored_before = 0;
};

// The earliest loss among the units of a model, on a stream of that length. `layers` are the
// recorded ones. It depends on sizes and timing only, because a policy is called no sooner than a
// token must be evicted: all policies with one budget lose their first token at the same query.
// Cost: O(units + the loss's position), in a few bytes per position.
FirstLoss first_loss(const Spec& spec,
                     const HeadGrid& grid,
                     std::span<const std::size_t> layers,
                     std::size_t tokens);

}  // namespace kv

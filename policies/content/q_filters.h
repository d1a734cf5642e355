// q-filters: evicts the tokens whose keys reach least far along the main direction of the queries.
//
// The queries of a head lie around one direction, and keys that reach far along it receive more
// attention from any of them. The direction of a query head is the first right singular vector of
// its queries so far, oriented so that the mean query reaches along it; the filter of a kv-head is
// the mean of the directions of the query heads that read it. A token's score is the inner product
// of its key with the filter, averaged over the unit's kv-heads; the token with the lowest score is
// evicted, among equals the older. Filters are computed at the first trim and at the next trim
// after every `renew` further queries; with renew=0 they remain for good.
//
// Keys and queries are those after rotation, as published: at their positions or, in a cache that
// closes gaps, queries at the rank at which they were met and keys at the ranks that they have
// before the eviction.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_q_filters(std::size_t renew);

PolicyEntry q_filters_policy();

}  // namespace kv

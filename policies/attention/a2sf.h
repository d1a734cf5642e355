// a2sf: evicts the token with the least attention summed since its arrival, where each query counts
// `factor` times as much as the next one.
//
// A token's score after query n is the sum over queries q since its arrival of
// factor^(n - q) * mass(q). With factor 1 this is the sum of h2o, in which old tokens have had more
// queries to gather attention from; with factor 0 it is the mass of the last query, as in tova.
// Between them a token is forgotten after about 1 / (1 - factor) queries that pay it nothing. The
// token with the lowest score is evicted, among equals the older.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires a factor in [0, 1].
std::unique_ptr<Policy> make_a2sf(double factor);

PolicyEntry a2sf_policy();

}  // namespace kv

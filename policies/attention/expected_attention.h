// expected-attention: a token is worth the attention that queries like the past ones would pay it,
// times the length of its value; the lowest goes.
//
// Queries are taken to be normal, with the mean mu and the covariance S that they have had so far
// before rotation, and to stand at the next `future` positions: mu and S are turned by the mean
// rotation R of these, to R mu and R S R^T. A key k, turned by its own position, then expects
// exp(k.mu / sqrt(d) + k.S.k / 2d), normalised over the residents. Here the key is turned back by
// R^T instead, which is the same. In a cache that closes gaps positions are the ranks that
// residents have now, and the queries come after the last. With future=0, or where a model has no
// rotary positions, nothing is turned, and distance counts for nothing. With the unit's query heads
// these are averaged after they were multiplied with the norm of the value that the head reads.
// Among equals the older goes.
//
// Expectations are normalised over all residents, as attention is: a head of a unit that attends to
// the sinks has less of a say.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class Covariance { none, diagonal, full };

std::unique_ptr<Policy> make_expected_attention(Covariance covariance,
                                                bool value_norm,
                                                std::size_t future = 512);

PolicyEntry expected_attention_policy();

}  // namespace kv

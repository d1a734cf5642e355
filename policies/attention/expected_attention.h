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
// Source: Devoto, Jeblick and Jegou, "Expected Attention: KV Cache Compression by Estimating
// Attention from Future Queries Distribution", arXiv:2510.00636; code NVIDIA/kvpress,
// ExpectedAttentionPress.
// Differs: there statistics are those of the prompt, without its first tokens; here of all queries
// so far. There expectations are normalised over the residents but the sinks, here over all of
// them, as attention is: a head of a unit that looks at the sinks has less of a say.
// covariance=diagonal, the default, leaves out what two channels have in common.
// Cost: O(residents * keys) time a trim, `keys` being the numbers of a token's keys (with
// covariance=full times head_dim); 4 bytes of each of these and 8 per kv-head for each resident,
// and 8 head_dim (head_dim + 1) per query head.
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

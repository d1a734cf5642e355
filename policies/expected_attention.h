// expected-attention: a token is worth the attention that queries like the past ones would pay it,
// times the length of its value; the lowest goes.
//
// Queries are taken to be normal, with the mean mu and the covariance S that they have had so far.
// A key k then expects exp(k.mu / sqrt(d) + k.S.k / 2d), normalised over the residents. With the
// unit's query heads these are averaged after they were multiplied with the norm of the value that
// the head reads. Among equals the older goes.
//
// Source: Devoto, Jeblick and Jegou, "Expected Attention: KV Cache Compression by Estimating
// Attention from Future Queries Distribution", arXiv:2510.00636; code NVIDIA/kvpress,
// ExpectedAttentionPress.
// Differs: queries and keys are those before rotation, so that distance counts for nothing; there
// mu and S are turned by the mean rotation of the next 512 positions. There statistics are those of
// the prompt, without its first tokens; here of all queries so far. covariance=diagonal, the
// default, leaves out what two channels have in common.
// Cost: O(residents * keys) time a trim, `keys` being the numbers of a token's keys (with
// covariance=full times head_dim); 4 bytes of each of these and 8 per kv-head for each resident,
// and 8 head_dim (head_dim + 1) per query head.
#pragma once

#include <memory>

#include "policies/entry.h"

namespace kv {

enum class Covariance { none, diagonal, full };

std::unique_ptr<Policy> make_expected_attention(Covariance covariance, bool value_norm);

PolicyEntry expected_attention_policy();

}  // namespace kv

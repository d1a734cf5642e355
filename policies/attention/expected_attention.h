// expected-attention: scores a token by the attention that it can expect from queries like the past
// ones, times the norm of its value, and evicts the token with the lowest score.
//
// Queries are assumed to be normally distributed, with the mean mu and the covariance S of the past
// queries before rotation, and to stand at the next `future` positions. R is the mean rotation of
// these positions; it takes mu and S to R mu and R S R^T. A key k, rotated to its own position,
// then expects exp(k.mu / sqrt(d) + k.S.k / 2d), divided by the sum over all residents, or over the
// middle alone. The code rotates
// the key by R^T instead, which gives the same value. In a cache that closes gaps, positions are
// the current ranks of the residents, and the queries follow the last rank. With future=0, or in a
// model without rotary positions, nothing is rotated and distance has no effect. The scores of the
// unit's query heads are averaged after each is multiplied by the norm of the value that the head
// reads. Among equal scores the older token is evicted.
//
// Expectations are normalised over all residents, as attention is. A head that attends mainly to
// the sinks therefore has less influence on the average. With softmax=middle it has as much as any
// other, as in the source's code.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/attention/query_moments.h"
#include "kvcheck/policies/entry.h"

namespace kv {

struct ExpectedAttentionOptions {
  Covariance covariance = Covariance::diagonal;
  bool value_norm = true;
  std::size_t future = 512;
  bool of_middle = false;  // expectations sum to 1 over the middle, not over all residents
  double epsilon = 0;      // is added to each expectation before the norm multiplies it
  std::size_t skip = 0;    // how many first queries of the stream do not count
};

std::unique_ptr<Policy> make_expected_attention(const ExpectedAttentionOptions& options);

PolicyEntry expected_attention_policy();

}  // namespace kv

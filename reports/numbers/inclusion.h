// Inclusion: how often a position is still resident at the end, and how often it should be in
// theory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::reports {

// How many tokens have left the recent window, and so entered the middle, after the last chunk of a
// stream of `tokens` tokens. They are the positions from spec.sinks on. 0 for specs that evict
// nothing.
std::uint64_t entered_at_end(const Spec& spec, std::size_t tokens);

// The law of inclusion that the policy's claims promise.
enum class InclusionLaw {
  none,       // no law that this file knows
  uniform,    // every token that entered is there with probability capacity / entered
  geometric,  // each decision evicts one of capacity + 1 tokens, independent of age
  admitting,  // the same, but no decision evicts the newcomer that caused it
};

InclusionLaw inclusion_law(const Spec& spec);

// The probability that each token that entered the middle is still there, in stream order:
// [entered]. Empty if there is no law. With capacity k and n entered, n > k:
//   uniform    k / n
//   geometric  (k / (k + 1)) ^ d, d the decisions that the token has been part of: n - k for the
//              first k + 1 tokens, one fewer for each token after
//   admitting  ((k - 1) / k) ^ d, d the decisions after the token's own: n - k for the first k
//              tokens, one fewer for each token after
std::vector<double> inclusion_theory(const Spec& spec, std::uint64_t entered);

}  // namespace kv::reports

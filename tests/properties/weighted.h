// Weighted reservoirs: the exact laws of two ways to keep k of n tokens with unequal weights.
//
// They are different claims. With equal weights both are the uniform law.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {

enum class WeightedLaw {
  // One token after another is drawn with its weight over the weight that is left. Inclusion is
  // not proportional to weight. Source: Efraimidis and Spirakis, "Weighted random sampling with a
  // reservoir", Information Processing Letters 97(5), 2006 (A-ES: the k largest u^(1/w)).
  sequential,
  // Inclusion is k w / sum w exactly; where that exceeds 1 a token is kept surely and the rest
  // share what is left. Source: Chao, "A general purpose unequal probability sampling plan",
  // Biometrika 69(3), 1982.
  proportional,
};

// The probability of each kept set, by subset_index. Requires k < n = weights.size() <= 16 and
// positive weights. Cost: 2^n for sequential, n C(n,k) k for proportional.
std::vector<double> weighted_subsets(WeightedLaw law,
                                     std::span<const double> weights,
                                     std::uint32_t k);

// [n], the probability that each token is kept under `proportional`.
std::vector<double> proportional_inclusions(std::span<const double> weights, std::uint32_t k);

// Pearson over the kept sets, those that expect fewer than 10 pooled in one; nothing if that leaves
// one bin. A set without probability that occurred refutes the law. Requires subsets in `counts`.
// Detectable: root mean square relative deviation of a set.
std::optional<ChanceTest> weighted_test(const Counts& counts, std::span<const double> subsets);

}  // namespace kv::properties

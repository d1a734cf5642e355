// What a policy may claim of chance: the distribution of the tokens in the middle.
//
// Tokens are numbered 0, 1, ... in the order in which they entered the middle (left the recent
// window); k of them are kept. From the k-th on every token is a newcomer: it or one of the k
// older tokens is evicted.
//
//   uniform    the t-th to enter is kept with k/t; then one of the k older is evicted, each alike
//              Source: Vitter, "Random Sampling with a Reservoir", ACM TOMS 11(1), 1985.
//   geometric  one of the k + 1 is evicted, each alike
//   admitting  the newcomer is kept; one of the k older is evicted, each alike
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/properties/contract.h"

namespace kv::properties {

// n tokens have entered, k are kept; n > k >= 1.
struct Shape {
  std::uint32_t n = 0;
  std::uint32_t k = 0;

  bool operator==(const Shape&) const = default;
};

enum class ChanceLaw { uniform, geometric, admitting };

// What the claims of a contract, or of a policy, say: uniform, age-geometric, and with it
// admits-newcomers.
std::optional<ChanceLaw> chance_law_of(const Contract& contract);
std::optional<ChanceLaw> chance_law_of(const Spec& spec);

// The probability that token i is in the middle after n have entered.
double inclusion(ChanceLaw law, const Shape& shape, std::uint32_t i);

// That i and j are both, i < j.
double pair_inclusion(ChanceLaw law, const Shape& shape, std::uint32_t i, std::uint32_t j);

// That the t-th token to enter (1, 2, ...) is kept, t > k. Under every law a victim
// among the older tokens is uniform.
double acceptance(ChanceLaw law, const Shape& shape, std::uint32_t t);

// [n], inclusion of each.
std::vector<double> inclusions(ChanceLaw law, const Shape& shape);

// "uniform", "age-geometric", "age-geometric and admits-newcomers".
std::string_view claim_of(ChanceLaw law);

// "each of the n with k/n", "(4/5)^age", "(3/4)^age".
std::string formula_of(ChanceLaw law, const Shape& shape);

}  // namespace kv::properties

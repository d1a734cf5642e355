#include "kvcheck/properties/statistics/chance_law.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

double power_of(double share, std::uint32_t times) {
  return std::pow(share, static_cast<double>(times));
}

// The decisions that token i takes part in: its own if it is a newcomer and `own` counts, and all
// after it.
std::uint32_t decisions(const Shape& shape, std::uint32_t i, bool own) {
  return shape.n - std::max(i + (own ? 0U : 1U), shape.k);
}

}  // namespace

std::optional<ChanceLaw> chance_law_of(const Contract& contract) {
  if (contract.claims_to_be("uniform")) return ChanceLaw::uniform;
  if (!contract.claims_to_be("age-geometric")) return std::nullopt;
  return contract.claims_to_be("admits-newcomers") ? ChanceLaw::admitting : ChanceLaw::geometric;
}

std::optional<ChanceLaw> chance_law_of(const Spec& spec) {
  return chance_law_of(contract_of(spec));
}

double inclusion(ChanceLaw law, const Shape& shape, std::uint32_t i) {
  KV_CHECK(i < shape.n && shape.k >= 1 && shape.k < shape.n);
  const auto k = static_cast<double>(shape.k);
  if (law == ChanceLaw::uniform) return k / static_cast<double>(shape.n);
  if (law == ChanceLaw::geometric) return power_of(k / (k + 1), decisions(shape, i, true));
  return power_of((k - 1) / k, decisions(shape, i, false));
}

double pair_inclusion(ChanceLaw law, const Shape& shape, std::uint32_t i, std::uint32_t j) {
  KV_CHECK(i < j && j < shape.n);
  const auto k = static_cast<double>(shape.k);
  const auto n = static_cast<double>(shape.n);
  if (law == ChanceLaw::uniform) return k * (k - 1) / (n * (n - 1));
  const bool own = law == ChanceLaw::geometric;
  // Until j takes part, i survives decisions alone; from then on both must survive the same ones.
  const std::uint32_t together = decisions(shape, j, own);
  const std::uint32_t alone = decisions(shape, i, own) - together;
  const double one = own ? k / (k + 1) : (k - 1) / k;
  const double both = own ? (k - 1) / (k + 1) : (k - 2) / k;
  return power_of(one, alone) * power_of(std::max(both, 0.0), together);
}

double acceptance(ChanceLaw law, const Shape& shape, std::uint32_t t) {
  if (law == ChanceLaw::admitting) return 1;
  return static_cast<double>(shape.k) / (law == ChanceLaw::uniform ? t : shape.k + 1);
}

std::vector<double> inclusions(ChanceLaw law, const Shape& shape) {
  std::vector<double> all(shape.n);
  for (std::uint32_t i = 0; i < shape.n; ++i) all[i] = inclusion(law, shape, i);
  return all;
}

std::string_view claim_of(ChanceLaw law) {
  constexpr std::array<std::string_view, 3> claims = {"uniform", "age-geometric",
                                                      "age-geometric and admits-newcomers"};
  return claims[static_cast<std::size_t>(law)];
}

std::string formula_of(ChanceLaw law, const Shape& shape) {
  const std::string k = std::to_string(shape.k);
  if (law == ChanceLaw::uniform) return k + "/" + std::to_string(shape.n);
  if (law == ChanceLaw::geometric) return "(" + k + "/" + std::to_string(shape.k + 1) + ")^age";
  return "(" + std::to_string(shape.k - 1) + "/" + k + ")^age";
}

}  // namespace kv::properties

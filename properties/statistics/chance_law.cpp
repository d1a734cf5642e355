#include "kvcheck/properties/statistics/chance_law.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

std::optional<ChanceLaw> law_of(bool uniform, bool geometric, bool admits) {
  if (uniform) return ChanceLaw::uniform;
  if (!geometric) return std::nullopt;
  return admits ? ChanceLaw::admitting : ChanceLaw::geometric;
}

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
  return law_of(contract.claims_to_be("uniform"), contract.claims_to_be("age-geometric"),
                contract.claims_to_be("admits-newcomers"));
}

std::optional<ChanceLaw> chance_law_of(const Spec& spec) {
  return chance_law_of(contract_of(spec));
}

double inclusion(ChanceLaw law, const Shape& shape, std::uint32_t i) {
  KV_CHECK(i < shape.n && shape.k >= 1 && shape.k < shape.n);
  const auto k = static_cast<double>(shape.k);
  switch (law) {
    case ChanceLaw::uniform:
      return k / static_cast<double>(shape.n);
    case ChanceLaw::geometric:
      return power_of(k / (k + 1), decisions(shape, i, true));
    case ChanceLaw::admitting:
      return power_of((k - 1) / k, decisions(shape, i, false));
  }
  return 0;
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
  const auto k = static_cast<double>(shape.k);
  switch (law) {
    case ChanceLaw::uniform:
      return k / static_cast<double>(t);
    case ChanceLaw::geometric:
      return k / (k + 1);
    case ChanceLaw::admitting:
      return 1;
  }
  return 0;
}

std::vector<double> inclusions(ChanceLaw law, const Shape& shape) {
  std::vector<double> all(shape.n);
  for (std::uint32_t i = 0; i < shape.n; ++i) all[i] = inclusion(law, shape, i);
  return all;
}

std::string_view claim_of(ChanceLaw law) {
  switch (law) {
    case ChanceLaw::uniform:
      return "uniform";
    case ChanceLaw::geometric:
      return "age-geometric";
    case ChanceLaw::admitting:
      return "age-geometric and admits-newcomers";
  }
  return "";
}

std::string formula_of(ChanceLaw law, const Shape& shape) {
  const std::string k = std::to_string(shape.k);
  switch (law) {
    case ChanceLaw::uniform:
      return k + "/" + std::to_string(shape.n);
    case ChanceLaw::geometric:
      return "(" + k + "/" + std::to_string(shape.k + 1) + ")^age";
    case ChanceLaw::admitting:
      return "(" + std::to_string(shape.k - 1) + "/" + k + ")^age";
  }
  return "";
}

}  // namespace kv::properties

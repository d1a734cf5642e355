#include "kvcheck/policies/claims.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/entry.h"

namespace kv {
namespace {

constexpr std::array<Claim, 9> claims = {{
    {"constant-size",
     "once the budget is full it remains full: no decision evicts more than it must"},
    {"chunk-invariant",
     "which tokens are kept does not depend on how the stream was cut into chunks"},
    {"uniform", "every token that left the recent window is in the middle with equal probability"},
    {"age-geometric",
     "if tokens arrive one by one, each decision evicts each token that it may evict with "
     "equal probability, so that survival falls geometrically with age"},
    {"admits-newcomers", "a token that has just left the recent window is not evicted at once"},
    {"deterministic", "the policy draws no random numbers"},
    {"score-driven", "decisions depend on attention"},
    {"ageing", "tokens lose rank over time: a newer token may be kept with less attention"},
    {"pooled", "a token is scored with its neighbours: one of them may be kept in its place"},
}};

}  // namespace

std::span<const Claim> known_claims() {
  return claims;
}

const Claim* find_claim(std::string_view name) {
  const auto* const found = std::ranges::find(claims, name, &Claim::name);
  return found == claims.end() ? nullptr : found;
}

std::string wrong_claim(std::string_view claim) {
  if (find_claim(claim) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const Claim& known : claims) names.push_back(known.name);
  return unknown_word("claim", claim, names);
}

bool draws(const PolicyEntry& policy) {
  return std::ranges::find(policy.claims, "deterministic") == policy.claims.end();
}

}  // namespace kv

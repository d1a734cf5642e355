// Claims: the words by which a policy declares its promises, and the meaning of each.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kv {

struct PolicyEntry;

struct Claim {
  std::string_view name;
  std::string_view meaning;  // for help, after a colon
};

// All claims that laws test. `kvcheck check` reports an implementation that breaks its claims.
std::span<const Claim> known_claims();

// Null if there is no such claim.
const Claim* find_claim(std::string_view name);

// An error text such as "unknown claim 'uniformm'; did you mean 'uniform'?", since a misspelt claim
// would promise nothing without a sign. Empty if the claim is known.
std::string wrong_claim(std::string_view claim);

// Whether the policy makes random draws: true unless it claims to be deterministic.
bool draws(const PolicyEntry& policy);

}  // namespace kv

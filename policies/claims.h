// Claims: the words in which a policy says what it promises, and what each of them means.
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

// All that laws ask for. A wrong implementation does not keep them: `kvcheck check` tells.
std::span<const Claim> known_claims();

// Null if there is no such claim.
const Claim* find_claim(std::string_view name);

// "unknown claim 'uniformm'; did you mean 'uniform'?": it would promise nothing, silently. Empty if
// the claim is known.
std::string wrong_claim(std::string_view claim);

// Whether the policy draws: it does not claim to be deterministic.
bool draws(const PolicyEntry& policy);

}  // namespace kv

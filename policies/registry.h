// The registry: every policy with its parameters, defaults, claims and source, in one table.
//
// The command line, the laws, the benchmarks and the reports iterate it, so adding a policy touches
// its two files, one line of registry.cpp and one test.
#pragma once

#include <span>
#include <string_view>

#include "policies/entry.h"

namespace kv {

// All policies, in the order that help and reports show them.
std::span<const PolicyEntry> policy_registry();

// The entry of that name, or null.
const PolicyEntry* find_policy(std::string_view name);

}  // namespace kv

// The registry: every policy with its parameters, defaults, claims and source, in one table.
//
// The command line, the laws, the benchmarks and the reports iterate it, so adding a policy touches
// its two files, one line of registry.cpp and one test.
#pragma once

#include <span>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/entry.h"

namespace kv {

// All policies, in the order that help and reports show them.
std::span<const PolicyEntry> policy_registry();

// Adds entries after those that are there; their texts outlive the process's specs. An error, and
// nothing is added, if a name is no word of a-z, 0-9 and '-', or taken. Requires that no spec was
// parsed yet: specs point into the registry. One thread only.
Result<void> register_policies(std::span<const PolicyEntry> more);

// The entry of that name, or null.
const PolicyEntry* find_policy(std::string_view name);

}  // namespace kv

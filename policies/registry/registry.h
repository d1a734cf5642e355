// The registry: every policy with its parameters, defaults, claims and source, in one table.
//
// The command line, the laws, the benchmarks and the reports iterate it, so adding a policy touches
// its two files, two lines of registry.cpp and one test.
#pragma once

#include <span>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/entry.h"

namespace kv {

// All policies, in the order that help and reports show them.
std::span<const PolicyEntry> policy_registry();

// Adds entries after the existing ones. Their texts must outlive all specs. Returns an error, and
// adds nothing, if a name is already taken or is not a word of a-z, 0-9 and '-', if an entry has an
// illegal parameter, claim, text or maker, or if there would be more than 256. Specs that were
// parsed before remain valid. Not thread-safe.
Result<void> register_policies(std::span<const PolicyEntry> more);

// The same for one entry, which takes the place of an earlier one of its name, unless that is one
// of kvcheck's own. A spec of the earlier one must not be used any more. For interactive work,
// where a policy is defined again and again.
Result<void> replace_policy(const PolicyEntry& entry);

// Makes a policy with these options and a copy of it. The code may be a user's: an error if it
// returns null or throws anything but std::bad_alloc.
Result<void> check_maker(const PolicyEntry& entry, const Options& options);

// The entry of that name, or null.
const PolicyEntry* find_policy(std::string_view name);

}  // namespace kv

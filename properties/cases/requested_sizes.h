// The sizes that are checked if none are given.
#pragma once

#include "kvcheck/properties/family.h"

namespace kv::properties {

// The first of some ordinary setups (sinks 2, recent 4, budget 12; then without sinks, without a
// middle) that the family does not refuse; the very first if it refuses all.
Setup first_accepted(const Family& family);

}  // namespace kv::properties

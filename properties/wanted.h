// The sizes that are asked about where nobody said.
#pragma once

#include "properties/family.h"

namespace kv {

// The first of some ordinary setups (sinks 2, recent 4, budget 12; then without sinks, without a
// middle) whose contract the family gives; the very first if it gives none.
Setup first_accepted(const Family& family);

}  // namespace kv

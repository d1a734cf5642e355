// A rule about types: each name stands for one type in the whole program.
#pragma once

#include "kvcheck/tests/tidy/include_rules.h"

namespace kv::tidy {

// No two files define a type or an alias of one name in one named namespace. The linker merges the
// members of such types, above all inline ones, and keeps the first definition without a warning.
// Programs of their own (examples/, tests/install/consumer/) are left out.
Findings types_of_one_name(const std::vector<SourceFile>& files);

}  // namespace kv::tidy

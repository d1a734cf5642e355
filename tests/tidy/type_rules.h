// A rule about types: one name is one type, over the whole program.
#pragma once

#include "kvcheck/tests/tidy/include_rules.h"

namespace kv::tidy {

// No two files define a type or an alias of one name in one named namespace. The linker joins the members of
// such types, inline ones above all, and picks whichever comes first, without a word. Programs of
// their own (examples/, tests/install/consumer/) are left out.
Findings types_of_one_name(const std::vector<SourceFile>& files);

}  // namespace kv::tidy

// Laws by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/law.h"

namespace kv::properties {

// The laws that the patterns name, in the order of laws(): ids, or beginnings of ids that end in a
// '*'. No pattern names all. An error if a pattern names none.
Result<std::vector<const Law*>> laws_named(const std::vector<std::string>& patterns);

// "unknown law 'survivs'; did you mean 'survives'?"; where nothing is near, the ids nearest to it.
std::string unknown_law(std::string_view id);

}  // namespace kv::properties

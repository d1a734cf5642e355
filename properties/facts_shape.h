// Whether facts have the shape that laws rely on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "kvcheck/properties/subject.h"

namespace kv::properties {

// How the facts of a call that fed `queries` tokens miss the shapes that UnitFacts states, as
// one sentence with what was found and expected; nothing if they keep them. Cost: linear in the
// units.
std::optional<std::string> shape_error(const Facts& facts, std::size_t units, std::size_t queries);

}  // namespace kv::properties

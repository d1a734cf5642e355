// The page mutants whose queries choose pages wrongly.
#pragma once

#include <vector>

#include "kvcheck/properties/mutants.h"

namespace kv::properties {

std::vector<Mutant> choice_mutants();

}  // namespace kv::properties

// The part of the resident laws that follows tokens through several calls.
#pragma once

#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

std::vector<Law> return_laws();

}  // namespace kv::properties

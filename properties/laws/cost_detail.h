// The part of the size laws that is about what a size costs and whether it is reached.
#pragma once

#include <vector>

#include "properties/law.h"

namespace kv {

std::vector<Law> cost_laws();

}  // namespace kv

// The part of the visibility laws that is about whole sets: what exactly a query sees.
#pragma once

#include <vector>

#include "properties/law.h"

namespace kv {

std::vector<Law> semantics_laws();

}  // namespace kv

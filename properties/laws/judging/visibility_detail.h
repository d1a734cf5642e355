// The parts of the visibility laws that are about whole sets: what exactly a query sees, and which
// pages it chooses.
#pragma once

#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

std::vector<Law> semantics_laws();
std::vector<Law> choice_laws();

}  // namespace kv::properties

// The parts of the size laws that stand in files of their own.
#pragma once

#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

std::vector<Law> cost_laws();     // what a size costs and whether it is reached
std::vector<Law> sharing_laws();  // what the heads of a layer keep together

}  // namespace kv::properties

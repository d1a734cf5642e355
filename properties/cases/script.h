// The calls of a drawn case. Included in .cpp files only.
#pragma once

#include <vector>

#include "kvcheck/properties/cases/drawer.h"
#include "kvcheck/properties/cases/generate.h"
#include "kvcheck/properties/law.h"

namespace kv::properties {

// Feeds cut in one of several ways, at the edges of the contract's sizes or as `length` says, with
// the requested kinds of calls among them.
std::vector<Call> draw_calls(Drawer& draw,
                             const Wants& wants,
                             const Setup& setup,
                             const Contract& contract,
                             const Length& length);

}  // namespace kv::properties

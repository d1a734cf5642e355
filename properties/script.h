// The calls of a drawn case. Included in .cpp files only.
#pragma once

#include <vector>

#include "properties/drawer.h"
#include "properties/law.h"

namespace kv {

// Feeds cut in one of several ways, at the edges of the contract's sizes, with the wanted kinds of
// calls among them.
std::vector<Call> draw_calls(Drawer& draw,
                             const Wants& wants,
                             const Setup& setup,
                             const Contract& contract);

}  // namespace kv

// Long streams: for faults that wait for a position, a number of calls, a wide chunk or a large
// buffer. Included in .cpp files only.
#pragma once

#include <cstdint>
#include <vector>

#include "kvcheck/properties/cases/drawer.h"
#include "kvcheck/properties/cases/generate.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// The chunks of a stream of `length.tokens` tokens or a few more, none longer than the contract
// allows. Requires length.tokens > 0, and a budget for Way::room.
std::vector<std::uint32_t> draw_long_chunks(Drawer& draw,
                                            const Length& length,
                                            std::uint32_t budget,
                                            const Contract& contract);

// Sizes near a power of two, of which a stream of `tokens` tokens fills the budget twice.
void draw_large_sizes(Drawer& draw, std::uint32_t tokens, Setup& setup);

}  // namespace kv::properties

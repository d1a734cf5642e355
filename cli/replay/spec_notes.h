// Notes about effects of a spec on texts of some length that the user may not have meant. They are
// printed, but they are not errors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// A sentence without its full stop for each kind of note: nothing is ever left out, no recent
// tokens are kept, or more tokens wait for a trim than the budget has. `longest` is the length of
// the longest text or trace, in tokens.
std::vector<std::string> notes_on(std::span<const Cell> cells, std::size_t longest);

}  // namespace kv::cli

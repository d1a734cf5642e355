// What a spec does on texts of a length that its words may not have meant: told, but no error.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// A sentence without its full stop for each kind of surprise: nothing is ever left out, no recent
// tokens are kept, or more waits for a trim than the budget is. `longest` is that of the texts or
// traces, in tokens.
std::vector<std::string> notes_on(std::span<const Cell> cells, std::size_t longest);

}  // namespace kv::cli

// A history as the lines of a file. HISTORY.md is the specification.
#pragma once

#include <string>

#include "kvcheck/properties/history.h"

namespace kv::properties {

inline constexpr int history_version = 1;

// A head line and a line for each call, each with its line break. Every unit has an entry with all
// that is known of it; units of which the same is known share one. The stream is named if its kind,
// seed and planted token say all of it. `draws`: the cache drew kvcheck's random numbers.
std::string history_lines(const History& history, bool draws = false);

}  // namespace kv::properties

// Verdicts as bytes, for a child process to leave to its parent.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/properties/verdict.h"

namespace kv::properties {

// Readable by this program only: numbers are as they lie in memory.
std::string bytes_of(const StatisticalVerdict& verdict);

// Requires bytes that bytes_of() made.
StatisticalVerdict verdict_of(std::string_view bytes);

}  // namespace kv::properties

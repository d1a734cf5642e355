// Verdicts and findings as bytes, for a child process to leave to its parent.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

// Readable by this program only: numbers are as they lie in memory.
std::string bytes_of(const StatisticalVerdict& verdict);

// Requires bytes that bytes_of() made.
StatisticalVerdict verdict_of(std::string_view bytes);

// What was explained of a broken law: from its shrinks to its reproduce. Contracts are left out, as
// the family knows them.
std::string bytes_of(const LawResult& result);

// The reverse, into a result of the same law. Requires bytes that bytes_of() made; takes them off
// the front.
void read_result(std::string_view& bytes, LawResult& result);

}  // namespace kv::properties

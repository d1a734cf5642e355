// Lists of numbers in the words after `kvcheck trace VERB`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::cli {

// "0,3-5" -> 0, 3, 4, 5. Requires of the text that the numbers increase; the error names `what`.
Result<std::vector<std::size_t>> parse_numbers(std::string_view text, std::string_view what);

// The other way round.
std::string numbers_text(std::span<const std::size_t> numbers);

}  // namespace kv::cli

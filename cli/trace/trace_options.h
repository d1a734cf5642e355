// Lists of numbers in the arguments of `kvcheck trace VERB`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::cli {

// "0,3-5" -> 0, 3, 4, 5. Numbers that do not increase are an error, which names `what`.
Result<std::vector<std::size_t>> parse_numbers(std::string_view text, std::string_view what);

// The inverse of parse_numbers.
std::string numbers_text(std::span<const std::size_t> numbers);

}  // namespace kv::cli

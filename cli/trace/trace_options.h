// Values of the options of `kvcheck trace VERB`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/traces/files/edit.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {

// "0,3-5" -> 0, 3, 4, 5. Numbers that do not increase are an error, which names `what`.
Result<std::vector<std::size_t>> parse_numbers(std::string_view text, std::string_view what);

// The inverse of parse_numbers.
std::string numbers_text(std::span<const std::size_t> numbers);

// What --layers, --heads and --tokens of `slice` select.
Result<Selection> selection_from(const Arguments& arguments);

// The text of each token, from the file of --words.
Result<Transcript> words_of(const std::string& path, std::size_t tokens);

}  // namespace kv::cli

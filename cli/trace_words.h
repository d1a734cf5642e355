// The words after `kvcheck trace VERB`: files, options, and lists of numbers.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kv::cli {

struct TraceOption {
  std::string_view name;  // "--dtype"
  bool takes_value = true;
};

struct TraceWords {
  std::vector<std::string> files;
  std::map<std::string, std::string, std::less<>> options;  // those given; "" where none is taken

  [[nodiscard]] bool has(std::string_view name) const { return options.contains(name); }
};

// Sorts `words` into files and options. Options are written "--name value", "--name=value" or, for
// --output, "-o value"; each at most once. After "--" every word is a file.
Result<TraceWords> parse_trace_words(std::span<const std::string> words,
                                     std::span<const TraceOption> options);

// "0,3-5" -> 0, 3, 4, 5. Requires of the text that the numbers increase; the error names `what`.
Result<std::vector<std::size_t>> parse_numbers(std::string_view text, std::string_view what);

// The other way round.
std::string numbers_text(std::span<const std::size_t> numbers);

}  // namespace kv::cli

// Words that users type: numbers, lists, and the nearest valid word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

// The pieces of `text` between separators; an empty text has one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(std::span<const std::string> words, std::string_view separator);

// The candidate closest to `word` by edits (insert, delete, replace, swap of neighbours), or an
// empty view if none is near enough to be what the user meant. Case is ignored. A candidate with
// letters left out (strm for streaming) is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "unknown policy 'strm'; did you mean 'streaming'?", or, if no candidate is near, "unknown policy
// 'xyz' (there are dense, window, ...)": the message for every unknown word. `what` names the kind
// of word in the singular.
std::string unknown_word(std::string_view what,
                         std::string_view word,
                         std::span<const std::string_view> candidates);

// The same with a suggestion by the caller, which need not be a candidate. If `meant` is empty,
// nothing is suggested.
std::string unknown_word(std::string_view what,
                         std::string_view word,
                         std::span<const std::string_view> candidates,
                         std::string_view meant);

// Parses the whole of `text` as a decimal count in [minimum, maximum]; the error names `what`.
Result<std::uint64_t> parse_count(std::string_view text,
                                  std::string_view what,
                                  std::uint64_t minimum,
                                  std::uint64_t maximum);

// Parses the whole of `text` as a finite real number in [minimum, maximum]; the error names `what`.
Result<double> parse_real(std::string_view text,
                          std::string_view what,
                          double minimum,
                          double maximum);

// The shortest decimal text that reads back as exactly `value`; "null" for NaN and infinities,
// which JSON cannot express.
std::string shortest(double value);

// The value as sixteen hexadecimal digits, as checksums are shown.
std::string hexadecimal(std::uint64_t value);

}  // namespace kv

// The text of each token of an attention dump, which holds none itself.
#pragma once

#include <cstddef>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// A JSON list of strings, one for each of `tokens` tokens, as a transcript without losses. A string
// may be empty. Errors: not a list of strings, or another number of them (malformed).
Result<Transcript> parse_token_words(std::string_view json, std::size_t tokens);

}  // namespace kv

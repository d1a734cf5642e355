// A text as streams of tokens, for a model to read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// How a text becomes one or more streams of tokens.
struct TextOptions {
  std::string separator{};         // cuts the text into pieces, each stripped of outer blanks
  bool each = false;               // every piece is a stream of its own; else all are one
  std::optional<TokenId> begin{};  // put before every stream
  bool mark = false;               // ... and before every piece
  std::size_t tokens = 0;          // how many of all tokens are taken; 0: all
  std::size_t window = 0;          // every stream is cut into windows of so many tokens; 0: not cut
};

// Streams of at least two tokens each. A window is a stream of its own with the begin token before
// as many whole lines as fit; a line that is longer than a window is cut. The tokens are those of
// the whole text or piece, so a line ends behind the token that holds its end. Errors: text that is
// empty, or too short to predict anything of; those of encode().
Result<std::vector<std::vector<TokenId>>> streams_of(std::string_view text,
                                                     const Tokenizer& tokenizer,
                                                     const TextOptions& options);

}  // namespace kv::model

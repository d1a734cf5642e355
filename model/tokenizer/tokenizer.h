// Tokenizers: text to token numbers and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/token_class.h"

namespace kv::model {

using TokenId = std::int32_t;

class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer() = default;

  // The tokens of a text, none added before or after. The error names the byte at which `text` is
  // not UTF-8, or the piece that the vocabulary cannot spell.
  [[nodiscard]] virtual Result<std::vector<TokenId>> encode(std::string_view text) const = 0;

  // The bytes that a token stands for after `previous` (none: at the start). One token's bytes need
  // not be UTF-8. Requires token in [0, vocabulary()).
  [[nodiscard]] virtual std::string piece(std::optional<TokenId> previous, TokenId token) const = 0;

  // Numbers below this are tokens.
  [[nodiscard]] virtual std::size_t vocabulary() const = 0;

  // Numbers from here on are added tokens, which only their names in a text become. Some models
  // have no row for them, as Gemma 3 has none for its <image_soft_token>.
  [[nodiscard]] virtual std::size_t plain_vocabulary() const { return vocabulary(); }

  // All pieces joined. The error names the token that is out of range.
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> tokens) const;
};

// The tokenizer of a model: in a directory, tokenizer.json, or vocab.json with merges.txt; in a
// GGUF file, its metadata; beside a llama2.c checkpoint, tokN.bin with N its vocabulary, or
// tokenizer.bin. `given` overrides what lies there, and may be another GGUF file.
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& model,
                                                  const std::string& given,
                                                  std::size_t vocabulary);

// The class of every token, by its number.
std::vector<TokenClass> token_classes(const Tokenizer& tokenizer);

// Where the character that begins at `at` ends. Requires UTF-8 and at < text.size().
std::size_t character_end(std::string_view text, std::size_t at);

// Whether one character of UTF-8 is white space, by Unicode.
bool is_white_space(std::string_view character);

// The first byte at which `text` is not UTF-8, if any.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// The error of encode() for text that is not UTF-8.
Error not_utf8(std::size_t offset);

}  // namespace kv::model

// Added tokens: words of a tokenizer that are cut out of a text before anything else happens to it,
// or out of the normalised text.
//
// Source: AddedVocabulary of Hugging Face's tokenizers: where several begin at one place, the
// longest counts; a token with lstrip or rstrip takes the white space beside it in.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

struct AddedToken {
  std::string text;  // not empty
  TokenId token = 0;
  bool normalised = false;  // it is looked for in the normalised text
  bool takes_left = false;  // ... with the white space before it
  bool takes_right = false;
};

// A part of a text: an added token with what it takes in, or what lies between two.
struct TextPart {
  std::string_view text;
  const AddedToken* added = nullptr;  // null: plain text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::span<const AddedToken> tokens);

  // The whole text in parts, none of them empty. The parts point into the text and into this
  // object.
  [[nodiscard]] std::vector<TextPart> cut(std::string_view text) const;

  // Appends the tokens of what lies between added tokens; `first`: whether the text begins with it.
  using EncodePlain =
      std::function<Result<void>(std::string_view text, bool first, std::vector<TokenId>& tokens)>;

  // The tokens of the whole text, which must be UTF-8: the added ones, and what `plain` makes of
  // the rest. The first error of `plain` is the error.
  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text,
                                                    const EncodePlain& plain) const;

 private:
  [[nodiscard]] const AddedToken* found_at(std::string_view text) const;

  std::array<std::vector<AddedToken>, 256> by_first_byte_;  // the longest first
};

}  // namespace kv::model

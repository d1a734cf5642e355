// Whole words as tokens: tokenizer.json with a model of type WordLevel.
//
// Source: the format of Hugging Face's tokenizer.json (model type WordLevel, pre-tokenizer
// WhitespaceSplit, no normalizer). A text is cut at Unicode's white space, and each word is looked
// up whole. Decoding joins words by one blank, so other white space does not come back.
#pragma once

#include <memory>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// Whether the text of a tokenizer.json says that its model is WordLevel. A text that is no JSON
// says nothing.
bool is_word_level(std::string_view json);

// From the text of a tokenizer.json. Errors name the entry, not the file. A word that is not in the
// vocabulary becomes the file's unk_token, or is an error of encode() where the vocabulary has no
// such token.
Result<std::unique_ptr<Tokenizer>> parse_word_tokenizer(std::string_view json);

}  // namespace kv::model

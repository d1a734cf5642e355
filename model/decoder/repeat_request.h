// The request to repeat the prompt: the words between a prompt and its repetition.
#pragma once

#include <vector>

#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// Empty if the tokenizer cannot encode the words, as a tokenizer of token numbers or of few words.
std::vector<TokenId> repeat_request(const Tokenizer& tokenizer);

}  // namespace kv::model

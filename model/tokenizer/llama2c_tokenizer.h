// llama2.c's tokenizer: byte-pair merging by score, as SentencePiece does it.
//
// Source: the file layout and behaviour described in github.com/karpathy/llama2.c: a 32-bit longest
// length, then for each token an f32 score, a 32-bit length and its bytes. A text gets one blank in
// front; each character that is a token becomes it, others become byte tokens (3 + byte); then of
// all neighbours that join to a token, those with the highest score join, the leftmost first.
#pragma once

#include <memory>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// Errors name the file: cut off, bytes left over.
Result<std::unique_ptr<Tokenizer>> open_llama2c_tokenizer(const std::string& path,
                                                          std::size_t vocabulary);

}  // namespace kv::model

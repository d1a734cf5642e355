// Token numbers as text, for models without a tokenizer that opens: "1 306 4658".
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

// encode() reads decimal numbers below `vocabulary` between white space; its errors name the byte
// at which something else is. A token's piece is its number with one blank after it.
std::unique_ptr<Tokenizer> number_tokenizer(std::size_t vocabulary);

}  // namespace kv::model

// Checkpoints of llama2.c: seven 32-bit sizes, then f32 tensors in a fixed order.
//
// Source: the description of the first ("legacy") export format in github.com/karpathy/llama2.c.
// The sizes are width, inner width, layers, heads, kv-heads, vocabulary (negative when the output
// layer has weights of its own) and context. RoPE rotates neighbours, with base 10000.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// The file must have exactly the bytes that its sizes ask for.
Result<LanguageModel> open_llama2c(const std::string& path);

}  // namespace kv::model

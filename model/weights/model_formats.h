// The formats of models that open_model() knows. Private to model/weights. Every tensor that the
// configuration asks for must be there with its shape, and no other. Errors are one sentence that
// names the file, and the entry or tensor.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// Hugging Face's directory layout: config.json and safetensors weights. Known buffers that hold no
// weights (masks, inverse frequencies) are passed over.
//
// Source: the tensor names and layouts that the three families' published checkpoints use. GPT-NeoX
// stores query, key and value of each head in one fused matrix; GPT-2 stores every matrix of its
// layers with one column per output. Both are copied into our layout when opened.
Result<LanguageModel> open_hugging_face(const std::string& folder);

// Checkpoints of llama2.c: seven 32-bit sizes, then f32 tensors in a fixed order. The file must
// have exactly the bytes that its sizes ask for.
//
// Source: the description of the first ("legacy") export format in github.com/karpathy/llama2.c.
// The sizes are width, inner width, layers, heads, kv-heads, vocabulary (negative when the output
// layer has weights of its own) and context. RoPE rotates neighbours, with base 10000.
Result<LanguageModel> open_llama2c(const std::string& path);

// GGUF files. The metadata give the configuration (model/gguf/configuration.h); matrices stay where
// they lie in the mapped file, quantised or not, and kernels multiply them so.
Result<LanguageModel> open_gguf_model(const std::string& path);

}  // namespace kv::model

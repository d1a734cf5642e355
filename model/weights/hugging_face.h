// Models in Hugging Face's directory layout: config.json and safetensors weights.
//
// Source: the tensor names and layouts that the three families' published checkpoints use. GPT-NeoX
// stores query, key and value of each head in one fused matrix; GPT-2 stores every matrix of its
// layers with one column per output. Both are copied into our layout when opened.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// Every tensor that the configuration asks for must be there with its shape, and no other; known
// buffers that hold no weights (masks, inverse frequencies) are passed over.
Result<LanguageModel> open_hugging_face(const std::string& folder);

}  // namespace kv::model

// What GGUF files call the tensors of a Hugging Face model.
//
// Source: tensor_mapping.py of gguf-py, in llama.cpp (github.com/ggml-org).
#pragma once

#include <string>
#include <string_view>

namespace kv::model {

// "model.layers.3.self_attn.q_proj.weight" becomes "blk.3.attn_q.weight". What one family calls the
// norm after attention is to others the norm before the MLP; `norms_after` says which it is. Gives
// an empty text for names that have no counterpart.
std::string gguf_tensor_name(std::string_view name, bool norms_after);

}  // namespace kv::model

#include "kvcheck/model/gguf/tensor_names.h"

#include <array>
#include <utility>

namespace kv::model {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 3> of_model = {
    {{"model.embed_tokens", "token_embd"}, {"model.norm", "output_norm"}, {"lm_head", "output"}}};

constexpr std::array<Pair, 14> of_layer = {{{"input_layernorm", "attn_norm"},
                                            {"self_attn.q_proj", "attn_q"},
                                            {"self_attn.k_proj", "attn_k"},
                                            {"self_attn.v_proj", "attn_v"},
                                            {"self_attn.qkv_proj", "attn_qkv"},
                                            {"self_attn.o_proj", "attn_output"},
                                            {"self_attn.q_norm", "attn_q_norm"},
                                            {"self_attn.k_norm", "attn_k_norm"},
                                            {"pre_feedforward_layernorm", "ffn_norm"},
                                            {"post_feedforward_layernorm", "post_ffw_norm"},
                                            {"mlp.gate_proj", "ffn_gate"},
                                            {"mlp.up_proj", "ffn_up"},
                                            {"mlp.gate_up_proj", "ffn_up"},
                                            {"mlp.down_proj", "ffn_down"}}};

std::string_view layer_part(std::string_view part, bool norms_after) {
  if (part == "post_attention_layernorm") return norms_after ? "post_attention_norm" : "ffn_norm";
  for (const auto& [from, to] : of_layer) {
    if (from == part) return to;
  }
  return {};
}

}  // namespace

std::string gguf_tensor_name(std::string_view name, bool norms_after) {
  const std::size_t end = name.rfind('.');
  if (end == std::string_view::npos) return {};
  const std::string_view stem = name.substr(0, end);
  const std::string kind(name.substr(end));  // ".weight" or ".bias"
  for (const auto& [from, to] : of_model) {
    if (from == stem) return std::string(to) + kind;
  }
  constexpr std::string_view layers = "model.layers.";
  if (!stem.starts_with(layers)) return {};
  const std::string_view rest = stem.substr(layers.size());
  const std::size_t number = rest.find('.');
  if (number == std::string_view::npos) return {};
  const std::string_view part = layer_part(rest.substr(number + 1), norms_after);
  if (part.empty()) return {};
  return "blk." + std::string(rest.substr(0, number)) + "." + std::string(part) + kind;
}

}  // namespace kv::model

#include "kvcheck/model/weights/bind_detail.h"

namespace kv::model {
namespace {

class LayerBinder {
 public:
  LayerBinder(Binder& binder, std::string at, LayerWeights& layer)
      : binder_(binder), config_(binder.model.config), at_(std::move(at)), layer_(layer) {}

  Result<void> bind() {
    bind_norms();
    bind_attention();
    bind_mlp();
    return bound_;
  }

 private:
  // The chain stops at the first error; those that follow are skipped.
  void linear(
      const std::string& name, std::size_t rows, std::size_t columns, bool bias, Linear& into) {
    if (bound_) bound_ = binder_.linear(at_ + name, rows, columns, bias, into);
  }

  void norm(const std::string& name, Norm& into, std::size_t size = 0) {
    if (bound_) bound_ = binder_.norm(at_ + name, into, size);
  }

  // Families without norms after the layer's parts call the one before the MLP what the others call
  // the one after attention.
  void bind_norms() {
    const Norms& norms = config_.norms;
    if (norms.before) norm("input_layernorm", layer_.before_attention);
    if (norms.after) {
      norm("post_attention_layernorm", layer_.after_attention);
      if (norms.before) norm("pre_feedforward_layernorm", layer_.before_mlp);
      norm("post_feedforward_layernorm", layer_.after_mlp);
    } else if (config_.parallel) {
      // Both read the same: there is one norm.
      layer_.before_mlp = layer_.before_attention;
    } else {
      norm("post_attention_layernorm", layer_.before_mlp);
    }
    if (norms.projected == Norms::Projected::none) return;
    const bool whole = norms.projected == Norms::Projected::whole;
    norm("self_attn.q_norm", layer_.of_queries, whole ? config_.query_width() : config_.head_dim);
    norm("self_attn.k_norm", layer_.of_keys, whole ? config_.kv_width() : config_.head_dim);
  }

  void bind_attention() {
    const std::size_t queries = config_.query_width();
    const std::size_t keys = config_.kv_width();
    const bool bias = config_.attention_bias;
    if (config_.architecture == Architecture::phi3) {
      Linear fused;
      linear("self_attn.qkv_proj", queries + 2 * keys, config_.width, bias, fused);
      if (bound_) {
        layer_.query = Binder::rows_of(fused, 0, queries);
        layer_.key = Binder::rows_of(fused, queries, keys);
        layer_.value = Binder::rows_of(fused, queries + keys, keys);
      }
    } else {
      linear("self_attn.q_proj", queries, config_.width, bias, layer_.query);
      linear("self_attn.k_proj", keys, config_.width, bias, layer_.key);
      linear("self_attn.v_proj", keys, config_.width, bias, layer_.value);
    }
    linear("self_attn.o_proj", config_.width, queries, config_.output_bias, layer_.output);
  }

  void bind_mlp() {
    const std::size_t inner = config_.inner;
    if (config_.architecture == Architecture::phi3) {
      Linear fused;
      linear("mlp.gate_up_proj", 2 * inner, config_.width, config_.mlp_bias, fused);
      if (bound_) {
        layer_.gate = Binder::rows_of(fused, 0, inner);
        layer_.up = Binder::rows_of(fused, inner, inner);
      }
    } else {
      linear("mlp.gate_proj", inner, config_.width, config_.mlp_bias, layer_.gate);
      linear("mlp.up_proj", inner, config_.width, config_.mlp_bias, layer_.up);
    }
    linear("mlp.down_proj", config_.width, inner, config_.mlp_bias, layer_.down);
  }

  Binder& binder_;
  const ModelConfig& config_;
  std::string at_;
  LayerWeights& layer_;
  Result<void> bound_;
};

}  // namespace

Result<void> bind_llama(Binder& binder) {
  LanguageModel& model = binder.model;
  Result<void> bound = binder.embedding("model.embed_tokens.weight", "lm_head.weight");
  for (std::size_t i = 0; bound && i < model.layers.size(); ++i) {
    LayerBinder layer(binder, "model.layers." + std::to_string(i) + ".", model.layers[i]);
    bound = layer.bind();
  }
  if (bound) bound = binder.norm("model.norm", model.last);
  if (bound) bound = binder.head("lm_head.weight");
  return bound;
}

}  // namespace kv::model

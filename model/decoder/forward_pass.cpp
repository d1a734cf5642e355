#include "kvcheck/model/decoder/forward_pass.h"

#include "kvcheck/model/kernels/numbers.h"

namespace kv::model {

std::span<float> ForwardPass::begin(std::size_t rows) {
  rows_ = rows;
  hidden_states_.resize(rows * model_->embedding.columns);
  return hidden_states_;
}

ForwardPass::Projected ForwardPass::project(std::size_t index) {
  const ModelConfig& config = model_->config;
  const LayerWeights& layer = model_->layers[index];
  read(layer.before_attention);
  apply(layer.query, rows_, normed_.data(), q_, *team_);
  apply(layer.key, rows_, normed_.data(), k_, *team_);
  apply(layer.value, rows_, normed_.data(), v_, *team_);
  normalise_all(layer.of_queries, config.epsilon, q_, *team_);
  normalise_all(layer.of_keys, config.epsilon, k_, *team_);
  const LayerSettings settings = config.layer(index);
  scale_by(settings.query_scale, q_);
  if (settings.rotation == LayerRotation::main && config.scaling.attention_factor != 1) {
    const double squared = config.scaling.attention_factor * config.scaling.attention_factor;
    for (std::size_t at = 0; at < q_.size(); at += config.head_dim) {
      scale_by(squared, std::span(q_).subspan(at, config.rope.dims));
    }
  }
  attended_.resize(q_.size());
  return {index, q_.data(), k_.data(), v_.data(), attended_.data()};
}

// Adds what attention or the MLP computed.
void ForwardPass::add_to_stream(const Norm& after) {
  normalise_all(after, model_->config.epsilon, added_, *team_);
  scale_by(model_->config.residual_scale, added_);
  kernels().add(hidden_states_.data(), added_.data(), hidden_states_.size());
}

void ForwardPass::read(const Norm& norm) {
  normed_ = hidden_states_;
  normalise_all(norm, model_->config.epsilon, normed_, *team_);
}

void ForwardPass::run_layer(std::size_t index, const Attend& attend) {
  const ModelConfig& config = model_->config;
  const LayerWeights& layer = model_->layers[index];
  attend(project(index));
  // In parallel, the MLP reads the hidden states that attention read, so they are normalised before
  // its output is added.
  if (config.parallel) read(layer.before_mlp);
  apply(layer.output, rows_, attended_.data(), added_, *team_);
  add_to_stream(layer.after_attention);
  if (!config.parallel) read(layer.before_mlp);
  mlp_.run(layer, config.activation, rows_, normed_.data(), added_, *team_);
  add_to_stream(layer.after_mlp);
}

void ForwardPass::finish(std::size_t first, std::size_t rows, AlignedFloats& logits) {
  const Matrix& head = model_->head;
  const float* const from = hidden_states_.data() + first * head.columns;
  normed_.resize(rows * head.columns);
  normalise(model_->last, model_->config.epsilon, rows, from, normed_.data(), *team_);
  logits.resize(rows * head.rows);
  multiply(head, rows, normed_.data(), logits.data(), *team_);
  scale_by(model_->config.logit_scale, logits);
  cap_logits(model_->config.logit_cap, logits);
}

}  // namespace kv::model

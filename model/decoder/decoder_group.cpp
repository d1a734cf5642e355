#include "kvcheck/model/decoder/decoder_group.h"

#include "kvcheck/base/check.h"

namespace kv::model {

std::optional<DecoderGroup::Failure> DecoderGroup::feed(
    std::span<const std::span<const TokenId>> chunks) {
  KV_CHECK(chunks.size() == decoders_.size());
  first_.assign(1, 0);
  for (const auto& chunk : chunks) first_.push_back(first_.back() + chunk.size());
  KV_CHECK(first_.back() > 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].empty()) continue;
    if (auto begun = decoders_[i].begin_chunk(chunks[i]); !begun) return Failure{i, begun.error()};
  }
  const std::size_t width = model_->embedding.columns;
  const std::span<float> states = pass_.begin(first_.back());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    decoders_[i].embed(chunks[i], states.subspan(first_[i] * width, chunks[i].size() * width));
  }
  for (std::size_t layer = 0; layer < model_->layers.size(); ++layer) run_layer(layer);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].empty()) continue;
    if (auto ended = decoders_[i].end_chunk(); !ended) return Failure{i, ended.error()};
  }
  pass_.finish(0, first_.back(), logits_);
  return std::nullopt;
}

void DecoderGroup::run_layer(std::size_t layer) {
  const ModelConfig& config = model_->config;
  const std::size_t queries = config.query_width();
  const std::size_t keys = config.kv_width();
  pass_.run_layer(layer, [&](const ForwardPass::Projected& all) {
    for (std::size_t i = 0; i < decoders_.size(); ++i) {
      const std::size_t row = first_[i];
      const std::size_t rows = first_[i + 1] - row;
      if (rows == 0) continue;
      decoders_[i].attend({.layer = all.layer,
                           .tokens = rows,
                           .q = all.q + row * queries,
                           .k = all.k + row * keys,
                           .v = all.v + row * keys},
                          all.attended + row * queries);
    }
  });
}

std::span<const float> DecoderGroup::logits(std::size_t i) const {
  const std::size_t vocabulary = model_->config.vocabulary;
  return std::span(logits_).subspan(first_[i] * vocabulary,
                                    (first_[i + 1] - first_[i]) * vocabulary);
}

}  // namespace kv::model

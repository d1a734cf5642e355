// A decoder of one layer alone, for a pass layer by layer.
#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/decoder/decoder.h"

namespace kv::model {

Result<void> Decoder::begin_layer(std::span<const TokenId> tokens, std::span<const float> states) {
  KV_CHECK(!tokens.empty() && only_layer_ && *only_layer_ < model_->layers.size());
  KV_CHECK(states.size() == tokens.size() * model_->embedding.columns);
  if (Result<void> checked = check(tokens); !checked) return checked;
  tokens_ = tokens.size();
  attention_->begin_chunk(tokens_);
  const std::span<float> hidden_states = pass_.begin(tokens_);
  if (*only_layer_ == 0) {
    embed(tokens, hidden_states);
  } else {
    std::ranges::copy(states, hidden_states.begin());
  }
  return {};
}

Result<void> Decoder::feed_layer(std::span<const TokenId> tokens, std::span<float> states) {
  if (Result<void> begun = begin_layer(tokens, states); !begun) return begun;
  run_layer(*only_layer_);
  attention_->end_chunk();
  std::ranges::copy(pass_.states(), states.begin());
  return {};
}

Result<void> Decoder::store_layer(std::span<const TokenId> tokens, std::span<const float> states) {
  if (Result<void> begun = begin_layer(tokens, states); !begun) return begun;
  attention_->store_layer(vectors_of(pass_.project(*only_layer_)));
  attention_->end_chunk();
  return {};
}

void Decoder::finish_states(std::span<const float> states) {
  const std::size_t rows = states.size() / model_->head.columns;
  std::ranges::copy(states, pass_.begin(rows).begin());
  pass_.finish(0, rows, logits_);
}

}  // namespace kv::model

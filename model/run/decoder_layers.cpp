// A decoder of one layer alone, for a pass layer by layer.
#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/run/decoder.h"

namespace kv::model {

Result<void> Decoder::begin_layer(std::span<const TokenId> tokens, std::span<const float> states) {
  KV_CHECK(!tokens.empty() && only_layer_ && *only_layer_ < model_->layers.size());
  KV_CHECK(states.size() == tokens.size() * model_->embedding.columns);
  if (Result<void> checked = check(tokens); !checked) return checked;
  tokens_ = tokens.size();
  attention_->begin_chunk(tokens_);
  if (*only_layer_ == 0) {
    embed(tokens);
  } else {
    hidden_states_.assign(states.begin(), states.end());
  }
  return {};
}

Result<void> Decoder::feed_layer(std::span<const TokenId> tokens, std::span<float> states) {
  if (Result<void> begun = begin_layer(tokens, states); !begun) return begun;
  run_layer(*only_layer_);
  attention_->end_chunk();
  std::ranges::copy(hidden_states_, states.begin());
  return {};
}

Result<void> Decoder::store_layer(std::span<const TokenId> tokens, std::span<const float> states) {
  if (Result<void> begun = begin_layer(tokens, states); !begun) return begun;
  read(model_->layers[*only_layer_].before_attention);
  project(*only_layer_);
  attention_->store_layer({*only_layer_, tokens_, q_.data(), k_.data(), v_.data()});
  attention_->end_chunk();
  return {};
}

void Decoder::finish_states(std::span<const float> states) {
  hidden_states_.assign(states.begin(), states.end());
  tokens_ = states.size() / model_->head.columns;
  finish(Logits::all);
}

}  // namespace kv::model

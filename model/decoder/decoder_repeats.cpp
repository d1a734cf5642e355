// Copies of a decoder: those that read on by themselves, and the passes that repeat its prompt.
#include <memory>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/decoder/repeat_passes.h"

namespace kv::model {

// No observer sees the copy.
Decoder::Decoder(const Decoder& read, std::unique_ptr<CachedAttention> attention)
    : model_(read.model_),
      spec_(read.spec_),
      length_(read.length_),
      observer_(nullptr),
      on_attention_(read.on_attention_),
      team_(read.team_),
      attention_(std::move(attention)),
      re_evaluation_(read.re_evaluation_),
      pass_(*read.model_, read.team_) {}

Decoder Decoder::fork() const {
  KV_CHECK(!only_layer_);
  Decoder copy(*this, std::make_unique<CachedAttention>(*attention_));
  copy.token_classes_ = token_classes_;
  copy.repeat_request_ = repeat_request_;
  copy.prompt_ = prompt_;
  copy.logits_ = logits_;
  return copy;
}

Result<void> Decoder::repeat_prompt() {
  attention_->end_queries();
  for (const RepeatPass& pass : repeat_passes(std::exchange(prompt_, {}), spec_.sinks,
                                              needs_of(spec_).reconstruction, repeat_request_)) {
    Decoder copy(*this, std::make_unique<CachedAttention>(*attention_, pass.rows));
    if (Result<void> checked = copy.check(pass.tokens); !checked) {
      return Error{checked.error().kind, "it repeats the prompt: " + checked.error().message};
    }
    copy.tokens_ = pass.tokens.size();
    copy.attention_->begin_chunk(copy.tokens_);
    copy.embed(pass.tokens, copy.pass_.begin(copy.tokens_));
    for (std::size_t layer = 0; layer < model_->layers.size(); ++layer) copy.run_layer(layer);
    attention_->take_shares(*copy.attention_);
  }
  attention_->show_shares();
  return {};
}

}  // namespace kv::model

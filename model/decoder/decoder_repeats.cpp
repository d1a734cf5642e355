// The passes by which a decoder repeats its prompt, in copies of its cache.
#include <memory>
#include <utility>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/decoder/repeat_passes.h"

namespace kv::model {

// A decoder for one pass; no observer sees it.
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

// Re-evaluation: the residents run through the model again, as a text of their own, whenever others
// have gone. What is left is then what the model would have of a text that never held the rest.
//
// With rare trims this is "discard and re-evaluate": drop half, feed the rest again. With a trim a
// token it is sliding-window recomputation.
//
// Source: discard: neural-speed, docs/infinite_inference.md, and llama.cpp before its context
// shift; recomputation: Xiao et al., arXiv:2309.17453, section 3.1. Differs: there a trim comes
// when the context is full, here when the spec's timing says so; any policy whose residents are the
// same in all units may be run so. Cost: one prompt of all residents per trim.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/attention/cached_attention.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

class ReEvaluation {
 public:
  // `model` outlives it. Storage and keys are those of the cache.
  ReEvaluation(const LanguageModel& model, const KvFormat& storage, KeyStorage keys)
      : model_(&model), storage_(storage), keys_(keys) {}

  // Once per chunk, after it began in `attention`: `coming` are its tokens. If residents went since
  // the last time, those before the chunk get new vectors.
  Result<void> refresh(CachedAttention& attention, std::span<const TokenId> coming);

 private:
  struct Held {
    Position position = 0;
    TokenId token = 0;
  };

  // Forgets those that are no longer resident.
  void keep(const Visible& residents);

  const LanguageModel* model_;
  KvFormat storage_;
  KeyStorage keys_;
  std::vector<Held> held_;     // in stream order, the chunk's included
  std::uint64_t evicted_ = 0;  // when vectors were last made
};

}  // namespace kv::model

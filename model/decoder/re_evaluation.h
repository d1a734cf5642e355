// Re-evaluation: after every eviction the residents are run through the model again, as a text of
// their own. Their keys and values are then those of a text that never contained the evicted
// tokens.
//
// With rare trims this is "discard and re-evaluate": evict half, feed the rest again. With a trim
// after every token it is sliding-window recomputation.
//
// Source: discard: neural-speed, docs/infinite_inference.md, and llama.cpp before its context
// shift; recomputation: Xiao et al., arXiv:2309.17453, section 3.1. Differs: there a trim comes
// when the context is full, here when the spec's timing says so; any policy whose residents are the
// same in all units may be used. Cost: one prompt of all residents per trim.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/model/attention/cached_attention.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

class ReEvaluation {
 public:
  // `model` outlives it. Storage, keys and the length whose rotation is used are the cache's;
  // `team` is its decoder's.
  ReEvaluation(const LanguageModel& model,
               const KvFormat& storage,
               KeyStorage keys,
               std::size_t length,
               std::shared_ptr<Team> team)
      : model_(&model), storage_(storage), keys_(keys), length_(length), team_(std::move(team)) {}

  // Once per chunk, after it began in `attention`; `chunk` are its tokens. If tokens were evicted
  // since the last call, the residents before the chunk get new vectors.
  Result<void> refresh(CachedAttention& attention, std::span<const TokenId> chunk);

 private:
  struct Resident {
    Position position = 0;
    TokenId token = 0;
  };

  void drop_evicted(const Visible& residents);

  const LanguageModel* model_;
  KvFormat storage_;
  KeyStorage keys_;
  std::size_t length_;
  std::shared_ptr<Team> team_;
  std::vector<Resident> residents_;         // in stream order, the chunk's tokens included
  std::uint64_t evicted_at_last_pass_ = 0;  // evictions until vectors were last evaluated
};

}  // namespace kv::model

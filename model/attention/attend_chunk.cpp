// A chunk's queries over one kv-head at once, so that keys and values are read once for all of
// them: the part of model/attention/cached_attention.h that prompts spend their time in.
//
// Only where nobody looks at what is computed every query sees all that is stored up to itself,
// and none finds a token quantised that another found in full precision.
// The visible sets are nested then: ranks are those of the last query's, and each query has its
// limit. Results are the same bits as one by one.
#include <algorithm>
#include <cmath>

#include "kvcheck/model/attention/cached_attention.h"

namespace kv::model {

bool CachedAttention::at_once(const ModelUnit& unit, const AttentionObserver* observer) const {
  const bool raw = keys_ == KeyStorage::raw && config_.rope.layout != RopeLayout::none;
  const bool causal = spec_.visibility == Visibility::causal || !spec_.bounded();
  const bool settled = unit.groups.front().store.settles_at_once();
  const bool selects = unit.groups.front().pages.has_value();
  return chunk_ > 1 && settled && causal && !selects && !raw && observer == nullptr &&
         !unit.cache.needs().any();
}

void CachedAttention::attend_chunk(ModelUnit& unit, const LayerVectors& vectors, float* out) {
  const auto last = static_cast<Position>(seen() - 1);
  const Visible visible = unit.cache.visible_to(last);
  for (std::size_t i = 0; i < vectors.tokens && !unit.spans_layers; ++i) {
    static_cast<void>(unit.cache.next_query());
  }
  find_runs(visible, last);
  unit.cache.slots().list(visible.size(), slots_);
  // As many tokens as keep queries and sums near the processor.
  constexpr std::size_t most_vectors = 64;
  for (HeadGroup& group : unit.groups) {
    if (group.layer != vectors.layer) continue;
    if (at_ranks_) shift_.close_gaps(group.store, slots_, group.places);
    group.store.settle(last, visible, slots_);
    widen(group.store);
    const std::size_t most = std::max<std::size_t>(1, most_vectors / group.heads);
    for (std::size_t first = 0; first < vectors.tokens; first += most) {
      attend_tokens(group, vectors, first, std::min(most, vectors.tokens - first), out);
    }
  }
}

// The queries of `tokens` tokens of the chunk from `first` on. One that comes before the last is
// turned by as much less as it stands before it.
void CachedAttention::attend_tokens(const HeadGroup& group,
                                    const LayerVectors& vectors,
                                    std::size_t first,
                                    std::size_t tokens,
                                    float* out) {
  const std::size_t dim = config_.head_dim;
  const std::size_t width = config_.query_width();
  const std::size_t count = tokens * group.heads;
  const Readers readers{group.store, group.first_head, group.heads};
  limits_.clear();
  queries_.resize(runs_.size() * count * dim);
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::size_t before_last = vectors.tokens - 1 - (first + i);
    limits_.insert(limits_.end(), group.heads, slots_.size() - before_last);
    const Query query{.q = vectors.q + (first + i) * width};
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const auto rotate = static_cast<Position>(rotations_[run] - before_last);
      float* rotated = queries_.data() + (run * count + i * group.heads) * dim;
      rotate_queries(readers, query, rotate, rotated);
    }
  }
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    runs_[run].queries = queries_.data() + run * count * dim;
  }
  state_.resize(count * attend_state);
  outs_.resize(count * dim);
  attend_kernels().attend({.keys = keys_of(group.store),
                           .values = values_of(group.store),
                           .runs = runs_,
                           .vectors = count,
                           .limits = limits_.data(),
                           .scale = 1.0F / std::sqrt(static_cast<float>(dim)),
                           .state = state_.data(),
                           .out = outs_.data()});
  for (std::size_t i = 0; i < tokens; ++i) {
    std::copy_n(outs_.data() + i * group.heads * dim, group.heads * dim,
                out + (first + i) * width + group.first_head * dim);
  }
}

}  // namespace kv::model

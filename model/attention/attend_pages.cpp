// Queries that choose pages: the part of model/attention/cached_attention.h for
// visibility=top-pages.
#include <algorithm>

#include "kvcheck/model/attention/cached_attention.h"

namespace kv::model {

// The bounds are those of the keys that are attended to: rounded as they are stored, and turned.
void CachedAttention::add_to_pages(HeadGroup& group, Slot slot, Position place) {
  const std::size_t dim = config_.head_dim;
  rotated_.resize(std::max(rotated_.size(), 2 * dim));
  float* key = rotated_.data();
  group.store.key(slot, key);
  if (keys_ == KeyStorage::raw) {
    rope_.rotate(key, dim, place, key + dim);
    key += dim;
  }
  group.pages->add(key);
}

// Each head by itself: O(pages * dim + attended * dim).
void CachedAttention::attend_pages(ModelUnit& unit,
                                   const Query& query,
                                   AttentionObserver* observer) {
  for (HeadGroup& group : unit.groups) {
    for (std::size_t head = group.first_head; head < group.first_head + group.heads; ++head) {
      const Readers reader{group.store, head, 1};
      queries_.resize(config_.head_dim);
      rotate_queries(reader, query, query.position, queries_.data());
      const Visible visible = group.pages->select(queries_.data(), query.position);
      slots_.clear();
      const auto add = [&](Position p) { slots_.push_back(unit.cache.slots().slot_of(p)); };
      for (const Position p : visible.middle) add(p);
      for (Position p = visible.recent.first; p < visible.recent.last; ++p) add(p);
      mass_.resize(visible.size());
      attend_rows(reader, visible, query, observer != nullptr);
      if (observer == nullptr) continue;
      observer->on_row(group.layer, head, query.position, visible, mass_);
    }
  }
}

}  // namespace kv::model

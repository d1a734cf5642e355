#include "kvcheck/model/attention/attend_pages.h"

namespace kv::model {

PageAttention::PageAttention(RopeCache& rope,
                             QueryAttention& attention,
                             std::size_t head_dim,
                             RotationRules rules)
    : rope_(rope),
      attention_(attention),
      dim_(head_dim),
      rules_(rules),
      stored_(head_dim),
      rotated_(head_dim) {}

void PageAttention::add(KvHeadGroup& group, Slot slot, Position place) {
  // A bound holds for the key that queries meet, so it is taken after the rounding of storage and
  // after rotation.
  group.store.key(slot, stored_.data());
  if (rules_.keys != KeyRotation::at_read) return group.pages->add(stored_.data());
  rope_.rotate(stored_.data(), dim_, place, rotated_.data());
  group.pages->add(rotated_.data());
}

void PageAttention::attend(const UnitCache& cache,
                           KvHeadGroup& group,
                           const TokenQuery& query,
                           AttentionObserver* observer) {
  for (std::size_t head = group.first_head; head < group.first_head + group.heads; ++head) {
    // Positions are those of the stream here: a spec that selects pages allows no others.
    rope_.rotate(query.q + head * dim_, dim_, query.position, rotated_.data());
    const Visible visible = group.pages->select(rotated_.data(), query.position);
    // Nothing is ever evicted under such a spec, so a token's rank is its position.
    slots_.clear();
    const auto add = [&](Position p) { slots_.push_back(cache.slots().slot_of(p)); };
    for (const Position p : visible.middle) add(p);
    for (Position p = visible.recent.first; p < visible.recent.last; ++p) add(p);
    const AttendedRows rows{group.store, head, 1, visible, 0, slots_};
    const auto mass = attention_.attend(rows, query, observer != nullptr);
    if (observer == nullptr) continue;
    observer->on_row(group.layer, head, query.position, visible, mass);
  }
}

}  // namespace kv::model

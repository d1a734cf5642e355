#include "kvcheck/model/attention/vector_writer.h"

namespace kv::model {

VectorWriter::VectorWriter(const ModelConfig& config,
                           RopeCache& rope,
                           PageAttention& pages,
                           RotationRules rules)
    : rope_(rope),
      pages_(pages),
      rules_(rules),
      dim_(config.head_dim),
      kv_width_(config.kv_width()),
      key_(config.head_dim) {}

void VectorWriter::write(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank) {
  const bool at_ranks = rules_.keys == KeyRotation::at_rank;
  const auto after = static_cast<Position>(unit.cache.residents() - first_rank);
  const Position first = unit.cache.seen() - after;
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    const std::size_t rank = first_rank + i;
    const Slot slot = unit.cache.slots().slot_of(rank);
    const auto place = at_ranks ? static_cast<Position>(rank) : first + static_cast<Position>(i);
    for (KvHeadGroup& group : unit.groups) {
      if (group.layer != vectors.layer) continue;
      const std::size_t at = i * kv_width_ + group.kv_head * dim_;
      const float* key = vectors.k + at;
      if (rules_.keys != KeyRotation::at_read) {
        rope_.rotate(key, dim_, place, key_.data());
        key = key_.data();
      }
      // Values carry no position.
      group.store.put(slot, key, vectors.v + at);
      if (at_ranks) group.places[slot] = place;
      if (group.pages) pages_.add(group, slot, place);
    }
  }
}

}  // namespace kv::model

// The classes that attend, of layers that rotate alike. Private to model/attention.
#pragma once

#include <vector>

#include "kvcheck/model/attention/attend_chunk.h"
#include "kvcheck/model/attention/attend_pages.h"
#include "kvcheck/model/attention/attend_query.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/attention/rotate_stored_keys.h"
#include "kvcheck/model/attention/vector_writer.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/cache/rope_rotation.h"

namespace kv::model {

// In this order: all refer to the rope, and some to those before them.
struct LayerAttention {
  LayerAttention(const ModelConfig& config,
                 const Rope& layout,
                 const std::vector<double>& frequencies,
                 RotationRules how,
                 KeyStorage keys)
      : rules(how),
        shown(layout, frequencies),
        rope(layout, frequencies),
        shift(layout, frequencies, keys == KeyStorage::rotated_f16),
        query(rope, config.head_dim, rules, config.attention_cap),
        chunk(rope, config.head_dim, config.query_width(), rules),
        pages(rope, query, config.head_dim, rules),
        writer(config, rope, pages, rules) {}

  LayerAttention(const LayerAttention&) = delete;
  LayerAttention& operator=(const LayerAttention&) = delete;
  ~LayerAttention() = default;

  RotationRules rules;
  RopeRotation shown;  // what policies receive
  RopeCache rope;
  KeyShift shift;
  QueryAttention query;
  ChunkAttention chunk;
  PageAttention pages;
  VectorWriter writer;
};

}  // namespace kv::model

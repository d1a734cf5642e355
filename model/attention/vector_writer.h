// Writes a layer's new keys and values into the slots that the caches gave their tokens, each key
// rotated as the cache's rules say.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/model/attention/attend_pages.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/model_unit.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/weights/config.h"

namespace kv::model {

class VectorWriter {
 public:
  // `rope` and `pages` outlive it.
  VectorWriter(const ModelConfig& config,
               RopeCache& rope,
               PageAttention& pages,
               RotationRules rules);

  // The vectors are those of the unit's residents from `first_rank` on. Where keys are rotated for
  // their position in the stream, these are its last residents.
  void write(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank);

 private:
  RopeCache& rope_;
  PageAttention& pages_;
  RotationRules rules_;
  std::size_t dim_;
  std::size_t kv_width_;
  std::vector<float> key_;  // [head_dim], rotated
};

}  // namespace kv::model

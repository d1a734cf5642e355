// One query's attention over stored rows of one kv-head.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/model/attention/query_rotation.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/attention/vector_reader.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/storage/kv_store.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv::model {

// Rows of one kv-head, and the query heads that attend to them.
struct AttendedRows {
  const KvStore& store;
  std::size_t first_head = 0;
  std::size_t heads = 0;
  const Visible& visible;       // without what a window hides
  std::size_t hidden = 0;       // how many ranks before these a window hides
  std::span<const Slot> slots;  // of what is visible, by rank
};

struct TokenQuery {
  const float* q = nullptr;  // [all heads, head_dim], before rotation
  Position position = 0;
  float* out = nullptr;  // [all heads, head_dim]
};

class QueryAttention {
 public:
  // `rope` outlives it. Logits x become cap * tanh(x / cap), unless `cap` is 0.
  QueryAttention(RopeCache& rope, std::size_t head_dim, RotationRules rules, double cap = 0);

  // Writes the output of the rows' heads. If `wants_mass`, returns their attention by rank
  // [heads, visible], which costs a second softmax; it holds until the next call.
  std::span<const float> attend(const AttendedRows& rows, const TokenQuery& query, bool wants_mass);

 private:
  void attend_stored(const AttendedRows& rows, const TokenQuery& query, bool wants_mass);
  void attend_raw(const AttendedRows& rows, const TokenQuery& query);
  void attend_capped(const AttendedRows& rows, const TokenQuery& query);
  void weigh_values(const AttendedRows& rows, const SlotRows& values, const TokenQuery& query);

  RopeCache& rope_;
  std::size_t dim_;
  RotationRules rules_;
  double cap_;
  QueryRotation rotation_;
  VectorReader reader_;
  std::vector<float> mass_;     // [heads, visible]: logits, then attention
  std::vector<float> queries_;  // [heads, head_dim], rotated to meet raw keys
  std::vector<float> state_;    // scratch of the kernel
};

}  // namespace kv::model

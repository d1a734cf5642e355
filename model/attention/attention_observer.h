// What attention shows to others while it runs: for recording, for re-evaluation and for tests.
#pragma once

#include <cstddef>
#include <span>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv::model {

// What one layer's attention computes with, for all tokens of a chunk.
struct LayerVectors {
  std::size_t layer = 0;
  std::size_t tokens = 0;
  const float* q = nullptr;             // [tokens, heads * head_dim], before rotation
  const float* k = nullptr;             // [tokens, kv_heads * head_dim], before rotation
  const float* v = nullptr;             // [tokens, kv_heads * head_dim]
  const float* output_norms = nullptr;  // [tokens, heads] (policies/policy.h), if a policy asks
};

class AttentionObserver {
 public:
  AttentionObserver() = default;
  AttentionObserver(const AttentionObserver&) = delete;
  AttentionObserver& operator=(const AttentionObserver&) = delete;
  virtual ~AttentionObserver() = default;

  // The layer's vectors of a chunk that begins at `first`.
  virtual void on_vectors(Position /*first*/, const LayerVectors& /*vectors*/) {}

  // Whether it needs the rows of the layer: without them, all queries of a chunk can be computed at
  // once, on several threads.
  [[nodiscard]] virtual bool wants_rows(std::size_t /*layer*/) const { return true; }

  // One query's attention over what it saw, by rank. Called query by query, from one thread.
  virtual void on_row(std::size_t /*layer*/,
                      std::size_t /*head*/,
                      Position /*query*/,
                      const Visible& /*visible*/,
                      std::span<const float> /*mass*/) {}
};

}  // namespace kv::model

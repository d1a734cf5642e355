// Dense rows: the attention of each query without evictions, read or computed once for all cells of
// a replay.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/rope.h"
#include "kvcheck/sim/replay/top_k.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// One query's dense attention. The spans are valid until the next row is loaded.
struct DenseRow {
  Position query = 0;
  std::span<const float> mass;    // [query + 1], sums to one
  std::span<const Position> top;  // the top_k largest entries, increasing
  std::span<const float> logits;  // [query + 1]; empty without q and k
  double log_sum = 0;             // of logits: log mass = logit - log_sum
  std::span<const float> output;  // [head_dim]; empty without values
};

// Keys and values of one kv-head as f32, shared by its query heads.
class KeyValues {
 public:
  KeyValues(const Trace::Layer& layer, std::size_t kv_head, const RopeTable& rope);

  [[nodiscard]] std::size_t dim() const { return dim_; }

  [[nodiscard]] const float* keys() const { return keys_.data(); }  // [tokens, dim], rotated

  [[nodiscard]] const float* values() const { return values_.data(); }  // [tokens, dim]

 private:
  std::size_t dim_;
  std::vector<float> keys_;
  std::vector<float> values_;
};

// The rows of one query head of one layer.
class DenseRows {
 public:
  // `layer` is an index into trace.info().layers. For q/k/v traces `shared` holds the head's keys
  // and values; for attention traces it is null.
  DenseRows(const Trace& trace,
            std::size_t layer,
            std::size_t head,
            std::size_t top_k,
            std::shared_ptr<const KeyValues> shared,
            const RopeTable& rope);

  // The row of `query`. An error names the layer, head and row of a sum that is not one, a negative
  // entry, a NaN, or mass above the diagonal. Cost: O(query) for attention, O(query * head_dim) for
  // q/k/v.
  Result<DenseRow> load(Position query);

  // Writes the query's vector, rotated to `position`, to out: [head_dim]. Only for q/k/v traces.
  void rotated_query(Position query, Position position, float* out) const;

  // Vectors as recorded, before rotation: [head_dim]. Only for q/k/v traces.
  [[nodiscard]] std::span<const float> raw_query(Position query) const {
    return std::span(queries_).subspan(query * shared_->dim(), shared_->dim());
  }

  void raw_key(Position position, float* out) const;
  void raw_value(Position position, float* out) const;

  [[nodiscard]] const KeyValues* key_values() const { return shared_.get(); }

  // 1 / sqrt(head_dim), the scale of dot products.
  [[nodiscard]] float logit_scale() const { return logit_scale_; }

 private:
  [[nodiscard]] Result<void> read_row(Position query);
  [[nodiscard]] Result<void> check_above(Position query, const std::byte* row);
  [[nodiscard]] Result<void> compute_row(Position query);
  [[nodiscard]] Error bad_row(Position query, const std::string& what) const;
  void widen_row(const TensorView& tensor, Position position, float* out) const;

  const Trace& trace_;
  std::size_t layer_;
  std::size_t head_;
  std::shared_ptr<const KeyValues> shared_;
  const RopeTable& rope_;
  float logit_scale_ = 1;
  TopK top_k_;
  std::vector<float> queries_;  // [tokens, dim], before rotation
  std::vector<float> rotated_;  // [dim]
  std::vector<float> logits_;
  double log_sum_ = 0;
  std::vector<float> mass_;
  std::vector<float> output_;
  std::vector<float> above_;  // scratch
};

}  // namespace kv

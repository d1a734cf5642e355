// Dense rows: the attention of each query without evictions, read or computed once for all cells of
// a replay.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/error.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/head_logits.h"
#include "kvcheck/sim/cache/rope.h"
#include "kvcheck/sim/replay/top_k.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// One query's dense attention. The spans are valid until the next row is loaded.
struct DenseRow {
  Position query = 0;
  std::size_t row = 0;            // the query's number among the recorded ones
  std::span<const float> mass;    // [query + 1], sums to one: shares of the attention to keys
  double keys = 1;                // the attention to keys; less than 1 beside a learned sink
  std::span<const Position> top;  // the top_k largest entries, increasing
  std::span<const float> logits;  // [query + 1]; empty without q and k
  double log_sum = 0;             // of logits and the sink: log(mass * keys) = logit - log_sum
  std::span<const float> output;  // [head_dim]; empty without values
};

// Keys and values of one kv-head as f32, shared by its query heads.
class KeyValues {
 public:
  // `layer` is an index into trace.info().layers, `rope` the rotation of that layer.
  KeyValues(const Trace& trace, std::size_t layer, std::size_t kv_head, const RopeTable& rope);

  [[nodiscard]] std::size_t dim() const { return dim_; }

  [[nodiscard]] const float* keys() const { return keys_.data(); }  // [tokens, dim], rotated

  [[nodiscard]] const float* values() const { return values_.data(); }  // [tokens, dim]

 private:
  std::size_t dim_;
  AlignedFloats keys_;
  AlignedFloats values_;
};

// The rows of one query head of one layer.
class DenseRows {
 public:
  // `layer` is an index into trace.info().layers, `rope` the rotation of that layer. For q/k/v
  // traces `shared` holds the head's keys and values; for attention traces it is null.
  DenseRows(const Trace& trace,
            std::size_t layer,
            std::size_t head,
            std::size_t top_k,
            std::shared_ptr<const KeyValues> shared,
            const RopeTable& rope);

  // The row of `query`, which is the trace's recorded query number `row`; in a trace of all queries
  // both are the same. An error names the layer, head and row of a sum that is not one (or above
  // one, beside a learned sink), a negative entry, a NaN, or mass above the diagonal. Cost:
  // O(query) for attention, O(query * head_dim) for q/k/v.
  Result<DenseRow> load(Position query, std::size_t row);

  Result<DenseRow> load(Position query) { return load(query, query); }

  // Writes the vector of the recorded query of that row, rotated to `position`, to out: [head_dim].
  // Only for q/k/v traces.
  void rotated_query(std::size_t row, Position position, float* out) const;

  // The weights of the row that was loaded last, which are 0 for later keys: [tokens]. All are 0
  // before the first. Rows must have been loaded in the order of the stream.
  [[nodiscard]] const float* last_mass() const { return mass_.data() + loaded_ * tokens(); }

  // Vectors before rotation: [head_dim]. Only for q/k/v traces. Queries contain the scale of
  // attention, as HeadLogits says. The rotation is taken back from vectors that were recorded after
  // it.
  [[nodiscard]] std::span<const float> raw_query(std::size_t row) const {
    return std::span(queries_).subspan(row * shared_->dim(), shared_->dim());
  }

  void raw_key(Position position, float* out) const;
  void raw_value(Position position, float* out) const;

  [[nodiscard]] const KeyValues* key_values() const { return shared_.get(); }

  // What makes logits of products of q and k. Only for q/k/v traces.
  [[nodiscard]] const HeadLogits& head_logits() const { return *head_logits_; }

 private:
  [[nodiscard]] Result<RowSum> widen_stored(Position query, std::size_t row);
  [[nodiscard]] Result<void> read_row(Position query, std::size_t row);
  [[nodiscard]] Result<void> check_above(Position query, const std::byte* row, std::size_t ahead);
  [[nodiscard]] Result<void> check_sum(Position query, float sum) const;
  void compute_block(std::size_t row);
  void finish_logits(std::size_t at);
  [[nodiscard]] Result<void> compute_row(Position query, std::size_t row);
  void open_queries();

  [[nodiscard]] std::size_t tokens() const { return trace_.info().tokens; }

  // How many keys the query of the block's row `at` has up to its own.
  [[nodiscard]] std::size_t keys_of(std::size_t at) const {
    return recorded_query(trace_.info(), block_ + at) + std::size_t{1};
  }

  [[nodiscard]] Error bad_row(Position query, const std::string& what) const;
  void widen_row(const TensorView& tensor, Position position, float* out) const;

  const Trace& trace_;
  std::size_t layer_;
  std::size_t head_;
  std::unique_ptr<RowMaker> maker_;  // null if the trace holds the rows
  std::shared_ptr<const KeyValues> shared_;
  const RopeTable& rope_;
  bool rotated_in_trace_ = false;
  std::optional<HeadLogits> head_logits_;  // of q/k/v traces
  TopK top_k_;
  AlignedFloats queries_;  // [recorded queries, dim], before rotation
  AlignedFloats stored_;   // the same after it, if the trace holds them so
  double keys_ = 1;
  AlignedFloats mass_;        // [rows, tokens], with one row for attention traces
  std::vector<float> above_;  // scratch

  // Rows of q/k/v traces are computed a few at a time, so that keys and values are read once for
  // all of them.
  static constexpr std::size_t most_rows = 8;
  std::size_t block_ = 0;       // the first row
  std::size_t block_rows_ = 0;  // how many
  std::size_t loaded_ = 0;      // the last one loaded, in the block
  AlignedFloats rotated_;       // [rows, dim]
  AlignedFloats logits_;        // [rows, tokens]
  AlignedFloats output_;        // [rows, dim]
  std::vector<double> log_sums_;
  std::vector<bool> finite_;  // whether all products of the row are
};

}  // namespace kv

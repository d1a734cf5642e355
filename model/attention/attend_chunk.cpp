#include "kvcheck/model/attention/attend_chunk.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/model/kernels/attend_kernels.h"

namespace kv::model {

ChunkAttention::ChunkAttention(RopeCache& rope,
                               std::size_t head_dim,
                               std::size_t query_width,
                               RotationRules rules)
    : dim_(head_dim),
      width_(query_width),
      rotation_(rope, head_dim, rules),
      reader_(rope, head_dim) {}

void ChunkAttention::attend(const AttendedRows& rows,
                            const LayerVectors& vectors,
                            Position last,
                            float* out) {
  // As many tokens as keep queries and sums near the processor; one token has to fit even if a unit
  // serves more heads than that.
  constexpr std::size_t most_vectors = 64;
  const std::size_t most = std::max<std::size_t>(1, most_vectors / rows.heads);
  // Planned once, for the last query: earlier queries see prefixes of the same runs, and their
  // rotations differ from the last one's by their distance alone.
  rotation_.plan(rows.visible, last, rows.hidden);
  // Read before the blocks, so that rows which need conversion are converted once, not per block.
  const KeysAndValues stored = reader_.read(rows.store, rows.slots);
  for (std::size_t first = 0; first < vectors.tokens; first += most) {
    const QueryBlock block{.first = vectors.q + first * width_ + rows.first_head * dim_,
                           .stride = width_,
                           .tokens = std::min(most, vectors.tokens - first),
                           .heads = rows.heads,
                           .before_last = vectors.tokens - 1 - first};
    attend_block(rows, stored, block, out + first * width_ + rows.first_head * dim_);
  }
}

void ChunkAttention::attend_block(const AttendedRows& rows,
                                  const KeysAndValues& stored,
                                  const QueryBlock& block,
                                  float* out) {
  const std::size_t count = block.tokens * block.heads;
  // Each query sees one row less than the query after it; the last sees all slots.
  limits_.clear();
  for (std::size_t i = 0; i < block.tokens; ++i) {
    limits_.insert(limits_.end(), block.heads, rows.slots.size() - (block.before_last - i));
  }
  state_.resize(count * attend_state);
  outs_.resize(count * dim_);
  attend_kernels().attend({.keys = stored.keys,
                           .values = stored.values,
                           .runs = rotation_.rotate(block),
                           .vectors = count,
                           .limits = limits_.data(),
                           .scale = 1.0F / std::sqrt(static_cast<float>(dim_)),
                           .state = state_.data(),
                           .out = outs_.data()});
  // The kernel's outputs lie side by side; those of the model's other heads lie between in `out`.
  const std::size_t per_token = block.heads * dim_;
  for (std::size_t i = 0; i < block.tokens; ++i) {
    std::copy_n(outs_.data() + i * per_token, per_token, out + i * width_);
  }
}

}  // namespace kv::model

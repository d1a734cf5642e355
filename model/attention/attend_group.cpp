// One query's attention over rows of one kv-head: the part of model/attention/cached_attention.h
// that computes.
#include <cmath>

#include "kvcheck/model/attention/cached_attention.h"

namespace kv::model {
namespace {

Position position_of(std::size_t rank, const Visible& visible) {
  if (rank < visible.sinks.size()) return static_cast<Position>(rank);
  rank -= visible.sinks.size();
  if (rank < visible.middle.size()) return visible.middle[rank];
  return static_cast<Position>(visible.recent.first + rank - visible.middle.size());
}

}  // namespace

// Output, and the rows of attention where they are to be shown.
void CachedAttention::attend_rows(const Readers& readers,
                                  const Visible& visible,
                                  const Query& query,
                                  bool shows_rows) {
  const std::size_t n = visible.size();
  float* out = query.out + readers.first_head * config_.head_dim;
  const bool raw = keys_ == KeyStorage::raw && config_.rope.layout != RopeLayout::none;
  if (raw) {
    raw_logits(readers, visible, query);
  } else {
    turn_queries(readers, visible, query);
    widen(readers.store);
    state_.resize(readers.heads * attend_state);
    attend_kernels().attend({.keys = keys_of(readers.store),
                             .values = values_of(readers.store),
                             .runs = runs_,
                             .vectors = readers.heads,
                             .scale = 1.0F / std::sqrt(static_cast<float>(config_.head_dim)),
                             .logits = shows_rows ? mass_.data() : nullptr,
                             .stride = n,
                             .state = state_.data(),
                             .out = out});
  }
  if (!raw && !shows_rows) return;
  for (std::size_t h = 0; h < readers.heads; ++h) kernels().softmax(mass_.data() + h * n, n);
  if (raw) weigh_values(readers, n, out);
}

void CachedAttention::weigh_values(const Readers& readers, std::size_t n, float* out) {
  SlotRows values;
  if (readers.store.rotates_in_place()) {
    values = readers.store.values(slots_);
  } else {
    const std::size_t dim = config_.head_dim;
    for (std::size_t i = 0; i < n; ++i) readers.store.value(slots_[i], rotated_.data() + i * dim);
    values = {Storage::f32, reinterpret_cast<const std::byte*>(rotated_.data()), dim,
              identity_.data(), n};
  }
  model_kernels().weigh(values, mass_.data(), readers.heads, n, out);
}

// Widens what is visible, where kernels do not read what is stored.
void CachedAttention::widen(const KvStore& store) {
  if (store.direct()) return;
  const std::size_t dim = config_.head_dim;
  wide_keys_.resize(slots_.size() * dim);
  wide_values_.resize(slots_.size() * dim);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    store.key(slots_[i], wide_keys_.data() + i * dim);
    store.value(slots_[i], wide_values_.data() + i * dim);
  }
  while (identity_.size() < slots_.size()) identity_.push_back(static_cast<Slot>(identity_.size()));
}

SlotRows CachedAttention::keys_of(const KvStore& store) const {
  if (store.direct()) return store.keys(slots_);
  return {Storage::f32, reinterpret_cast<const std::byte*>(wide_keys_.data()), config_.head_dim,
          identity_.data(), slots_.size()};
}

SlotRows CachedAttention::values_of(const KvStore& store) const {
  if (store.direct()) return store.values(slots_);
  return {Storage::f32, reinterpret_cast<const std::byte*>(wide_values_.data()), config_.head_dim,
          identity_.data(), slots_.size()};
}

// The runs of residents, and by how much the query at that position is turned for each.
void CachedAttention::find_runs(const Visible& visible, Position query) {
  const std::size_t n = visible.size();
  runs_.clear();
  rotations_.clear();
  const auto run = [&](std::size_t count, Position rotate) {
    if (count == 0) return;
    const std::size_t begin = runs_.empty() ? 0 : runs_.back().end;
    if (!rotations_.empty() && rotations_.back() == rotate) {
      runs_.back().end += count;
      return;
    }
    runs_.push_back({begin + count, nullptr});
    rotations_.push_back(rotate);
  };
  // A key at position p with rank r was turned by p where r is wanted: turning the query by its
  // rank - r + p does the same to the angle between them.
  const auto gap_run = [&](std::size_t count, Position first) {
    const std::size_t rank = runs_.empty() ? 0 : runs_.back().end;
    run(count, static_cast<Position>(n - 1 - rank + first));
  };
  if (spec_.positions == Positions::absolute || config_.rope.layout == RopeLayout::none) {
    run(n, query);
  } else if (at_ranks_) {
    run(n, static_cast<Position>(n - 1));
  } else {
    gap_run(visible.sinks.size(), 0);
    const auto& middle = visible.middle;
    for (std::size_t i = 0, end = 0; i < middle.size(); i = end) {
      for (end = i + 1; end < middle.size() && middle[end] == middle[end - 1] + 1; ++end) continue;
      gap_run(end - i, middle[i]);
    }
    gap_run(visible.recent.size(), visible.recent.first);
  }
}

void CachedAttention::turn_queries(const Readers& readers,
                                   const Visible& visible,
                                   const Query& query) {
  find_runs(visible, query.position);
  const std::size_t numbers = readers.heads * config_.head_dim;
  queries_.resize(runs_.size() * numbers);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].queries = queries_.data() + i * numbers;
    rotate_queries(readers, query, rotations_[i], queries_.data() + i * numbers);
  }
}

void CachedAttention::rotate_queries(const Readers& readers,
                                     const Query& query,
                                     Position rotate,
                                     float* out) {
  const std::size_t dim = config_.head_dim;
  for (std::size_t h = 0; h < readers.heads; ++h) {
    rope_.rotate(query.q + (readers.first_head + h) * dim, dim, rotate, out + h * dim);
  }
}

void CachedAttention::raw_logits(const Readers& readers,
                                 const Visible& visible,
                                 const Query& query) {
  const std::size_t n = visible.size();
  const std::size_t dim = config_.head_dim;
  const bool ranks = are_ranks(spec_.positions);
  queries_.resize(dim);
  rotated_.resize(n * dim);
  for (std::size_t rank = 0; rank < n; ++rank) {
    readers.store.key(slots_[rank], queries_.data());
    const Position at = ranks ? static_cast<Position>(rank) : position_of(rank, visible);
    rope_.rotate(queries_.data(), dim, at, rotated_.data() + rank * dim);
  }
  queries_.resize(readers.heads * dim);
  rotate_queries(readers, query, ranks ? static_cast<Position>(n - 1) : query.position,
                 queries_.data());
  while (identity_.size() < n) identity_.push_back(static_cast<Slot>(identity_.size()));
  const SlotRows keys{Storage::f32, reinterpret_cast<const std::byte*>(rotated_.data()), dim,
                      identity_.data(), n};
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  model_kernels().logits(keys, queries_.data(), readers.heads, scale, n, mass_.data());
}

}  // namespace kv::model

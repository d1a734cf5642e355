#include "kvcheck/model/attention/cached_attention.h"

#include <algorithm>
#include <numeric>

#include "kvcheck/base/check.h"

namespace kv::model {
namespace {

// The unit's query heads as groups that read one kv-head each. Lanes are ordered.
std::vector<HeadGroup> groups_of(const ModelConfig& config,
                                 const std::vector<Lane>& lanes,
                                 const UnitShape& shape,
                                 const KvFormat& storage) {
  std::vector<HeadGroup> groups;
  const std::size_t per_kv_head = config.heads / config.kv_heads;
  for (const std::size_t index : shape.lanes) {
    const Lane& lane = lanes[index];
    const std::size_t kv_head = lane.head / per_kv_head;
    if (groups.empty() || groups.back().layer != lane.layer || groups.back().kv_head != kv_head) {
      groups.push_back(
          {lane.layer, kv_head, lane.head, 0, KvStore(storage, config.head_dim), {}, {}});
    }
    ++groups.back().heads;
  }
  return groups;
}

// Keys that are evaluated again are born at their rank, and never shifted: no trim goes by without.
bool stand_at_ranks(const ModelConfig& config, const Spec& spec, KeyStorage keys) {
  if (keys == KeyStorage::raw || config.rope.layout == RopeLayout::none) return false;
  return spec.positions == Positions::shifted || spec.vectors == Vectors::re_evaluated;
}

// Whether what is stored is not quantised between the queries of a chunk.
bool settles(const ModelUnit& unit) {
  return unit.groups.front().store.settles_at_once();
}

// One token's part of a layer's vectors.
LayerVectors token_of(const ModelConfig& config, const LayerVectors& vectors, std::size_t index) {
  LayerVectors one = vectors;
  one.tokens = 1;
  one.q += index * config.query_width();
  one.k += index * config.kv_width();
  one.v += index * config.kv_width();
  return one;
}

}  // namespace

TraceInfo describe_model(const ModelConfig& config) {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.query_heads = config.heads;
  info.kv_heads = config.kv_heads;
  info.head_dim = config.head_dim;
  info.layers.resize(config.layers);
  std::iota(info.layers.begin(), info.layers.end(), std::size_t{0});
  info.trained_context = config.context;
  info.rope = config.rope;
  return info;
}

CachedAttention::CachedAttention(const ModelConfig& config,
                                 const Spec& spec,
                                 std::uint64_t seed,
                                 const KvFormat& storage,
                                 KeyStorage keys)
    : config_(config),
      spec_(spec),
      keys_(keys),
      at_ranks_(stand_at_ranks(config, spec, keys)),
      rope_(config.rope, rope_frequencies(config)),
      shift_(config.rope, rope_frequencies(config), keys == KeyStorage::rotated_f16),
      rotation_(config.rope, rope_frequencies(config)) {
  const TraceInfo info = describe_model(config);
  std::vector<Lane> lanes;
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    for (std::size_t head = 0; head < config.heads; ++head) lanes.push_back({layer, head});
  }
  for (const UnitShape& shape : units_of(info, lanes, spec.unit)) {
    const Lane& first = lanes[shape.lanes.front()];
    const Rng rng(seed_for(seed, spec.policy->name), stream_of_unit(info, first, spec.unit));
    const Spec own = unit_spec(spec, grid_of(info), kv_head_of(info, first));
    units_.push_back({first.layer,
                      first.head,
                      shape.lanes.size(),
                      spec.unit == Unit::model,
                      groups_of(config, lanes, shape, storage),
                      UnitCache(own, std::make_unique<CounterDraws>(rng)),
                      {},
                      {}});
    units_.back().cache.rotate_by(&rotation_);
    for (HeadGroup& group : units_.back().groups) {
      if (own.selects()) group.pages.emplace(own.top_pages, config.head_dim);
    }
  }
  std::vector<LayerCache> caches;
  for (ModelUnit& unit : units_) caches.push_back({unit.layer, &unit.cache});
  groups_ = grouped(caches);
}

// Where every query has a window of its own, units that share a budget decide before each.
void CachedAttention::decide_for_next_query(std::size_t layer) {
  if (!spec_.budgets.shared()) return;
  groups_[layer].before_query();
}

void CachedAttention::begin_chunk(std::size_t tokens, std::span<const TokenClass> classes) {
  chunk_ = tokens;
  classes_.assign(classes.begin(), classes.end());
  for (CacheGroup& group : groups_) group.begin_chunk(tokens);
  for (ModelUnit& unit : units_) {
    const std::size_t slots = unit.cache.slots().used();
    rope_.reserve(slots);  // which are at least as many as the chunk's tokens
    for (HeadGroup& group : unit.groups) {
      group.store.reserve(slots);
      if (at_ranks_) group.places.resize(slots);
    }
    unit.rows.assign(unit.cache.wants_rows() ? tokens : 0, {});
    unit.vectors.assign(unit.cache.needs().vectors() ? tokens : 0, {});
    for (TokenVectors& vectors : unit.vectors) vectors.clear(config_.head_dim);
  }
}

// Shows the policy what it asks for of one query of the chunk, whose rows are still sums.
void CachedAttention::observe(ModelUnit& unit, std::size_t query) {
  const Needs& needs = unit.cache.needs();
  Observation shown;
  if (needs.attention) {
    std::vector<float>& row = unit.rows[query];
    if (unit.heads > 1) {
      kernels().scale(row.data(), 1.0F / static_cast<float>(unit.heads), row.size());
    }
    shown.mass = row;
  }
  if (needs.vectors()) unit.vectors[query].show(needs, shown);
  if (needs.token_classes) shown.token_class = classes_[query];
  unit.cache.observe(shown);
}

void CachedAttention::end_chunk() {
  for (ModelUnit& unit : units_) {
    // A unit that spans layers has met every query in each layer; its cache meets them now.
    const bool causal = spec_.visibility == Visibility::causal || !spec_.bounded();
    for (std::size_t i = 0; unit.spans_layers && i < chunk_; ++i) {
      if (causal) static_cast<void>(unit.cache.next_query());
      if (unit.cache.needs().any()) observe(unit, i);
    }
  }
  for (CacheGroup& group : groups_) group.end_chunk();
  for (ModelUnit& unit : units_) unit.cache.clear_evicted();
}

void CachedAttention::run_layer(const LayerVectors& vectors,
                                float* out,
                                AttentionObserver* observer) {
  const Position first = seen() - static_cast<Position>(chunk_);
  if (observer != nullptr) observer->on_vectors(first, vectors);
  const std::size_t width = config_.query_width();
  const auto here = [&](const ModelUnit& unit) {
    return unit.spans_layers || unit.layer == vectors.layer;
  };
  for (ModelUnit& unit : units_) {
    if (!here(unit)) continue;
    if (settles(unit)) store(unit, vectors, unit.cache.residents() - vectors.tokens);
    if (unit.cache.needs().vectors()) keep_vectors(unit, vectors);
  }
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    const Query query{vectors.q + i * width, i, first + static_cast<Position>(i), out + i * width};
    decide_for_next_query(vectors.layer);
    for (ModelUnit& unit : units_) {
      if (!here(unit) || at_once(unit, observer)) continue;
      // Nobody before it sees it: so no more than the residual is ever in full precision.
      if (!settles(unit)) {
        store(unit, token_of(config_, vectors, i), unit.cache.residents() - vectors.tokens + i);
      }
      attend(unit, vectors.layer, query, observer);
    }
  }
  for (ModelUnit& unit : units_) {
    if (here(unit) && at_once(unit, observer)) attend_chunk(unit, vectors, out);
  }
}

void CachedAttention::replace(const LayerVectors& vectors) {
  for (ModelUnit& unit : units_) {
    if (unit.spans_layers || unit.layer == vectors.layer) store(unit, vectors, 0);
  }
}

// The vectors are those of the residents from `first_rank` on, and where they are rotated for the
// stream these are its last.
void CachedAttention::store(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank) {
  const std::size_t dim = config_.head_dim;
  const auto first = seen() - static_cast<Position>(unit.cache.residents() - first_rank);
  queries_.resize(dim);
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    const std::size_t rank = first_rank + i;
    const Slot slot = unit.cache.slots().slot_of(rank);
    const auto place = at_ranks_ ? static_cast<Position>(rank) : first + static_cast<Position>(i);
    for (HeadGroup& group : unit.groups) {
      if (group.layer != vectors.layer) continue;
      const std::size_t at = i * config_.kv_width() + group.kv_head * dim;
      const float* key = vectors.k + at;
      if (keys_ != KeyStorage::raw) {
        rope_.rotate(key, dim, place, queries_.data());
        key = queries_.data();
      }
      group.store.put(slot, key, vectors.v + at);
      if (at_ranks_) group.places[slot] = place;
      if (group.pages) add_to_pages(group, slot, place);
    }
  }
}

// What the layer's tokens bring to a policy that looks at vectors. A kv-head's group may be split
// between units (unit=head), so its queries are those of the group's heads only.
void CachedAttention::keep_vectors(ModelUnit& unit, const LayerVectors& vectors) const {
  const std::size_t dim = config_.head_dim;
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    for (const HeadGroup& group : unit.groups) {
      if (group.layer != vectors.layer) continue;
      const std::size_t at = i * config_.kv_width() + group.kv_head * dim;
      unit.vectors[i].add_keys(vectors.k + at, 1);
      unit.vectors[i].add_values(vectors.v + at, 1);
      const float* queries = vectors.q + i * config_.query_width() + group.first_head * dim;
      unit.vectors[i].add_queries(queries, group.heads);
    }
  }
}

Visible CachedAttention::view(ModelUnit& unit, const Query& query, std::size_t layer) {
  if (!unit.spans_layers) return unit.cache.next_query();
  if (spec_.visibility == Visibility::causal || !spec_.bounded()) {
    return unit.cache.visible_to(query.position);
  }
  // The view holds until the cache changes, which is after the last layer.
  KV_CHECK(chunk_ == 1);
  if (layer == 0) unit.once = unit.cache.next_query();
  return unit.once;
}

void CachedAttention::attend(ModelUnit& unit,
                             std::size_t layer,
                             const Query& query,
                             AttentionObserver* observer) {
  const Visible visible = view(unit, query, layer);
  if (unit.groups.front().pages) return attend_pages(unit, query, observer);
  const std::size_t n = visible.size();
  unit.cache.slots().list(n, slots_);
  const bool wants_rows = unit.cache.wants_rows();
  if (wants_rows) unit.rows[query.index].resize(n);
  const bool shows_rows = wants_rows || observer != nullptr;
  for (HeadGroup& group : unit.groups) {
    if (group.layer != layer) continue;
    if (at_ranks_) shift_.close_gaps(group.store, slots_, group.places);
    group.store.settle(query.position, visible, slots_);
    mass_.resize(group.heads * n);
    attend_rows({group.store, group.first_head, group.heads}, visible, query, shows_rows);
    for (std::size_t h = 0; h < group.heads && shows_rows; ++h) {
      float* row = mass_.data() + h * n;
      if (wants_rows) kernels().add(unit.rows[query.index].data(), row, n);
      if (observer == nullptr) continue;
      observer->on_row(layer, group.first_head + h, query.position, visible, {row, n});
    }
  }
  if (unit.cache.needs().any() && !unit.spans_layers) observe(unit, query.index);
}

Position CachedAttention::rank_of(Position query) const {
  const bool causal = spec_.visibility == Visibility::causal || !spec_.bounded();
  if (causal) {
    return static_cast<Position>(units_.front().cache.visible_to(query).size() - 1);
  }
  return std::min(query, spec_.budget - 1);
}

std::size_t CachedAttention::bytes() const {
  std::size_t total = 0;
  for (const ModelUnit& unit : units_) {
    for (const HeadGroup& group : unit.groups) {
      total += group.store.bytes() + (group.pages ? group.pages->bytes() : 0);
    }
  }
  return total;
}

}  // namespace kv::model

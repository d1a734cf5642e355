#include "kvcheck/model/attention/cached_attention.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/attention/attention_window.h"
#include "kvcheck/model/attention/layer_attention.h"

namespace kv::model {
namespace {

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

struct CachedAttention::Query {
  std::size_t layer = 0;
  std::size_t index = 0;  // in the chunk
  TokenQuery token;
};

CachedAttention::CachedAttention(const ModelConfig& config,
                                 const Spec& spec,
                                 std::uint64_t seed,
                                 const KvFormat& storage,
                                 KeyStorage keys,
                                 std::size_t length)
    : config_(config),
      spec_(spec),
      ranks_(are_ranks(spec.positions)),
      units_(make_units(config, spec, seed, storage)) {
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    const LayerRotation rotation = config.layer(layer).rotation;
    auto& parts = parts_[static_cast<std::size_t>(rotation)];
    if (parts != nullptr) continue;
    const Rope rope = rope_of(config, rotation);
    parts =
        std::make_unique<LayerAttention>(config, rope, rope_frequencies(config, rotation, length),
                                         rotation_rules(rope, spec, keys), keys);
  }
  std::vector<LayerCache> caches;
  for (ModelUnit& unit : units_) {
    unit.cache.rotate_by(&parts_of(unit.layer).shown);
    caches.push_back({unit.layer, &unit.cache});
  }
  pools_ = budget_pools(caches);
}

CachedAttention::~CachedAttention() = default;

LayerAttention& CachedAttention::parts_of(std::size_t layer) const {
  return *parts_[static_cast<std::size_t>(config_.layer(layer).rotation)];
}

// Whether every query sees all residents before it, so that its visible set is known at once.
bool CachedAttention::sees_all_before() const {
  return spec_.visibility == Visibility::causal || !spec_.bounded();
}

// Whether the unit's queries of this chunk can be computed together: each sees everything stored
// before it, none finds a token quantised that another finds in full precision, no logit is capped,
// and no policy or observer asks for the attention of each.
bool CachedAttention::attends_at_once(const ModelUnit& unit,
                                      std::size_t layer,
                                      const AttentionObserver* observer) const {
  const bool selects = unit.groups.front().pages.has_value();
  const std::size_t window = config_.layer(layer).window;
  const std::size_t reach = ranks_ ? unit.cache.residents() : seen();
  return chunk_ > 1 && unit.settles_at_once() && sees_all_before() && !selects &&
         (window == 0 || reach <= window) && config_.attention_cap == 0 &&
         parts_of(layer).rules.keys != KeyRotation::at_read && observer == nullptr &&
         !unit.cache.needs().any();
}

// Where every query has a window of its own, units that share a budget decide before each.
void CachedAttention::decide_for_next_query(std::size_t layer) {
  if (!spec_.budgets.shared()) return;
  pools_[layer].before_query();
}

void CachedAttention::begin_chunk(std::size_t tokens, std::span<const TokenClass> classes) {
  chunk_ = tokens;
  classes_.assign(classes.begin(), classes.end());
  for (BudgetPool& pool : pools_) pool.begin_chunk(tokens);
  for (ModelUnit& unit : units_) {
    const std::size_t slots = unit.cache.slots().used();
    for (KvHeadGroup& group : unit.groups) {
      LayerAttention& parts = parts_of(group.layer);
      parts.rope.reserve(slots);  // which are at least as many as the chunk's tokens
      group.store.reserve(slots);
      if (parts.rules.keys == KeyRotation::at_rank) group.places.resize(slots);
    }
    unit.observations.begin(unit.cache.needs(), tokens);
  }
}

void CachedAttention::end_chunk() {
  for (ModelUnit& unit : units_) {
    // A unit that spans layers has met every query in each layer; its cache meets them only now,
    // when the attention of all layers is summed.
    for (std::size_t i = 0; unit.spans_layers && i < chunk_; ++i) {
      if (sees_all_before()) static_cast<void>(unit.cache.next_query());
      if (unit.cache.needs().any()) unit.observations.show(unit.cache, i, unit.heads, classes_);
    }
  }
  for (BudgetPool& pool : pools_) pool.end_chunk();
  for (ModelUnit& unit : units_) unit.cache.clear_evicted();
}

void CachedAttention::run_layer(const LayerVectors& vectors,
                                float* out,
                                AttentionObserver* observer) {
  const Position first = seen() - static_cast<Position>(chunk_);
  if (observer != nullptr) observer->on_vectors(first, vectors);
  const std::size_t width = config_.query_width();
  LayerAttention& parts = parts_of(vectors.layer);
  for (ModelUnit& unit : units_) {
    if (!unit.holds(vectors.layer)) continue;
    const std::size_t before = unit.cache.residents() - vectors.tokens;
    if (unit.settles_at_once()) parts.writer.write(unit, vectors, before);
    if (unit.cache.needs().vectors()) gather_vectors(unit, vectors);
  }
  // Queries outside, units inside: units that share a budget decide together before each query.
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    const Query query{vectors.layer,
                      i,
                      {vectors.q + i * width, first + static_cast<Position>(i), out + i * width}};
    decide_for_next_query(vectors.layer);
    for (ModelUnit& unit : units_) {
      if (!unit.holds(vectors.layer)) continue;
      if (attends_at_once(unit, vectors.layer, observer)) continue;
      // A token is stored just before its own query, the first one that sees it. So no more than
      // the newest are ever held in full precision, however long the chunk.
      if (!unit.settles_at_once()) {
        const std::size_t rank = unit.cache.residents() - vectors.tokens + i;
        parts.writer.write(unit, token_of(config_, vectors, i), rank);
      }
      attend_query(unit, query, observer);
    }
  }
  for (ModelUnit& unit : units_) {
    const bool holds = unit.holds(vectors.layer);
    if (holds && attends_at_once(unit, vectors.layer, observer)) attend_chunk(unit, vectors, out);
  }
}

void CachedAttention::replace(const LayerVectors& vectors) {
  for (ModelUnit& unit : units_) {
    if (unit.holds(vectors.layer)) parts_of(vectors.layer).writer.write(unit, vectors, 0);
  }
}

// What the layer's tokens bring to a policy that looks at vectors. A kv-head's query heads may be
// split between units (unit=head), so the queries are those of the group's heads only.
void CachedAttention::gather_vectors(ModelUnit& unit, const LayerVectors& vectors) const {
  const std::size_t dim = config_.head_dim;
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    TokenVectors& token = unit.observations.vectors(i);
    for (const KvHeadGroup& group : unit.groups) {
      if (group.layer != vectors.layer) continue;
      const std::size_t at = i * config_.kv_width() + group.kv_head * dim;
      token.add_keys(vectors.k + at, 1);
      token.add_values(vectors.v + at, 1);
      token.add_queries(vectors.q + i * config_.query_width() + group.first_head * dim,
                        group.heads);
    }
  }
}

Visible CachedAttention::view(ModelUnit& unit, const Query& query) {
  if (!unit.spans_layers) return unit.cache.next_query();
  if (sees_all_before()) return unit.cache.visible_to(query.token.position);
  // The view holds until the cache changes, which is after the last layer.
  KV_CHECK(chunk_ == 1);
  if (query.layer == 0) unit.once = unit.cache.next_query();
  return unit.once;
}

// Keys first: a shift rounds a key to the tier it is in, and settling may then quantise it.
void CachedAttention::bring_up_to_date(KvHeadGroup& group, Position query, const Visible& visible) {
  LayerAttention& parts = parts_of(group.layer);
  if (parts.rules.keys == KeyRotation::at_rank) {
    parts.shift.close_gaps(group.store, slots_, group.places);
  }
  group.store.settle(query, visible, slots_);
}

void CachedAttention::attend_query(ModelUnit& unit,
                                   const Query& query,
                                   AttentionObserver* observer) {
  const Visible visible = view(unit, query);
  if (!unit.groups.front().pages) return attend_visible(unit, visible, query, observer);
  // Units do not span layers here, and no policy asks for anything: a spec that selects is dense.
  for (KvHeadGroup& group : unit.groups) {
    parts_of(query.layer).pages.attend(unit.cache, group, query.token, observer);
  }
}

void CachedAttention::attend_visible(ModelUnit& unit,
                                     const Visible& visible,
                                     const Query& query,
                                     AttentionObserver* observer) {
  unit.cache.slots().list(visible.size(), slots_);
  const std::size_t window = config_.layer(query.layer).window;
  const std::size_t hidden = out_of_window(visible, window, query.token.position, ranks_);
  const Visible within = without_first(visible, hidden);
  const bool wants_mass = unit.cache.needs().attention || observer != nullptr;
  for (KvHeadGroup& group : unit.groups) {
    if (group.layer != query.layer) continue;
    bring_up_to_date(group, query.token.position, visible);
    const AttendedRows rows{group.store, group.first_head, group.heads,
                            within,      hidden,           std::span(slots_).subspan(hidden)};
    const auto mass = parts_of(query.layer).query.attend(rows, query.token, wants_mass);
    if (wants_mass) show_mass(unit, group, visible, query, mass, observer);
  }
  if (unit.cache.needs().any() && !unit.spans_layers) {
    unit.observations.show(unit.cache, query.index, unit.heads, classes_);
  }
}

// Shows the attention of each head of a group, which covers the last of what is visible.
void CachedAttention::show_mass(ModelUnit& unit,
                                const KvHeadGroup& group,
                                const Visible& visible,
                                const Query& query,
                                std::span<const float> mass,
                                AttentionObserver* observer) {
  const std::size_t n = mass.size() / group.heads;
  const std::size_t hidden = visible.size() - n;
  for (std::size_t h = 0; h < group.heads; ++h) {
    row_.assign(hidden, 0.0F);
    const auto part = mass.subspan(h * n, n);
    row_.insert(row_.end(), part.begin(), part.end());
    if (unit.cache.needs().attention) unit.observations.add_mass(query.index, row_);
    if (observer == nullptr) continue;
    observer->on_row(query.layer, group.first_head + h, query.token.position, visible, row_);
  }
}

void CachedAttention::attend_chunk(ModelUnit& unit, const LayerVectors& vectors, float* out) {
  const auto last = static_cast<Position>(seen() - 1);
  const Visible visible = unit.cache.visible_to(last);
  // The cache counts its queries, though their views are not needed one by one.
  for (std::size_t i = 0; i < vectors.tokens && !unit.spans_layers; ++i) {
    static_cast<void>(unit.cache.next_query());
  }
  unit.cache.slots().list(visible.size(), slots_);
  for (KvHeadGroup& group : unit.groups) {
    if (group.layer != vectors.layer) continue;
    bring_up_to_date(group, last, visible);
    const AttendedRows rows{group.store, group.first_head, group.heads, visible, 0, slots_};
    parts_of(vectors.layer).chunk.attend(rows, vectors, last, out);
  }
}

Position CachedAttention::rank_of(Position query) const {
  if (sees_all_before()) {
    return static_cast<Position>(units_.front().cache.visible_to(query).size() - 1);
  }
  return std::min(query, spec_.budget - 1);
}

std::size_t CachedAttention::bytes() const {
  std::size_t total = 0;
  for (const ModelUnit& unit : units_) {
    for (const KvHeadGroup& group : unit.groups) {
      total += group.store.bytes() + (group.pages ? group.pages->bytes() : 0);
    }
  }
  return total;
}

}  // namespace kv::model

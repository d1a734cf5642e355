#include "kvcheck/model/attention/cached_attention.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/model/attention/unit_attention.h"

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

CachedAttention::CachedAttention(const ModelConfig& config,
                                 const Spec& spec,
                                 const AttentionOptions& options,
                                 Team& team)
    : config_(config),
      spec_(spec),
      options_(options),
      ranks_(are_ranks(spec.positions)),
      team_(team),
      units_(make_units(config, spec, options.seed, options.storage, options.only_layer)),
      pools_(pools_of(units_)) {
  for (std::size_t i = 0; i < team.size(); ++i)
    workers_.emplace_back(config, spec, options.keys, options.length);
  for (ModelUnit& unit : units_) {
    unit.cache.rotate_by(&workers_.front().parts_of(unit.layer).shown);
  }
}

CachedAttention::~CachedAttention() = default;

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
         workers_.front().parts_of(layer).rules.keys != KeyRotation::at_read &&
         observer == nullptr && !unit.needs().any() && !unit.repeated;
}

// Where every query has a window of its own, units that share a budget decide before each.
void CachedAttention::decide_for_next_query(std::size_t layer) {
  if (!spec_.budgets.shared()) return;
  pools_[layer].before_query();
}

// Caches of different pools decide independently, which costs as much as attention where a policy
// compares vectors.
template <typename Step>
void CachedAttention::for_each_pool(const Step& step) {
  const Needs needs = units_.front().needs();
  const std::size_t of_resident = needs.vectors() ? 4 * config_.head_dim : 4;
  const std::size_t cost = chunk_ * units_.front().cache.residents() * of_resident;
  team_.run_ranges(pools_.size(), 1, cost,
                   [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) {
                     for (std::size_t i = begin; i < end; ++i) step(pools_[i]);
                   });
}

void CachedAttention::begin_chunk(std::size_t tokens, std::span<const TokenClass> classes) {
  chunk_ = tokens;
  asked_ = false;
  classes_.assign(classes.begin(), classes.end());
  for_each_pool([tokens](BudgetPool& pool) { pool.begin_chunk(tokens); });
  for (ModelUnit& unit : units_) {
    const std::size_t slots = unit.cache.slots().used();
    for (KvHeadGroup& group : unit.groups) {
      const RotationRules& rules = workers_.front().parts_of(group.layer).rules;
      group.store.reserve(slots);
      if (rules.keys == KeyRotation::at_rank) group.places.resize(slots);
    }
    unit.observations.begin(unit.needs(), tokens);
  }
}

void CachedAttention::end_queries() {
  if (std::exchange(asked_, true)) return;
  for (ModelUnit& unit : units_) {
    // A unit that spans layers has met every query in each layer; its cache meets them only now,
    // when the attention of all layers is summed.
    for (std::size_t i = 0; unit.spans_layers && i < chunk_; ++i) {
      if (sees_all_before()) static_cast<void>(unit.cache.next_query());
      if (unit.needs().any()) unit.observations.show(unit.cache, i, unit.heads, classes_);
    }
  }
}

void CachedAttention::end_chunk() {
  end_queries();
  for_each_pool([](BudgetPool& pool) { pool.end_chunk(); });
  for (ModelUnit& unit : units_) unit.cache.clear_evicted();
}

// Units are ordered by layer; one that spans layers is the only one.
std::span<ModelUnit> CachedAttention::units_of(std::size_t layer) {
  const auto here =
      std::ranges::find_if(units_, [layer](const ModelUnit& unit) { return unit.holds(layer); });
  const auto end = std::find_if(here, units_.end(),
                                [layer](const ModelUnit& unit) { return !unit.holds(layer); });
  return {here, end};
}

// What the chunk costs in one of these units, for Team::run_ranges.
std::size_t CachedAttention::cost_of(std::span<const ModelUnit> units) const {
  const ModelUnit& unit = units.front();
  const std::size_t heads = std::max<std::size_t>(unit.heads, 1);
  return 2 * chunk_ * heads * unit.cache.residents() * config_.head_dim;
}

void CachedAttention::run_layer(const LayerVectors& vectors,
                                float* out,
                                AttentionObserver* observer) {
  const Position first = seen() - static_cast<Position>(chunk_);
  if (observer != nullptr) {
    observer->on_vectors(first, vectors);
    if (!observer->wants_rows(vectors.layer)) observer = nullptr;
  }
  const std::span<ModelUnit> units = units_of(vectors.layer);
  const auto store = [&](std::size_t begin, std::size_t end, std::size_t worker) {
    for (ModelUnit& unit : units.subspan(begin, end - begin)) {
      const std::size_t before = unit.cache.residents() - vectors.tokens;
      if (unit.settles_at_once()) workers_[worker].write(unit, vectors, before);
      if (unit.needs().vectors()) gather_vectors(unit, vectors);
    }
  };
  // An observer sees queries in their order, and units that share a budget decide together before
  // each of them.
  if (observer != nullptr || spec_.budgets.shared()) {
    store(0, units.size(), 0);
    return attend_one_by_one(vectors, out, observer);
  }
  const std::size_t width = config_.query_width();
  team_.run_ranges(
      units.size(), 1, cost_of(units), [&](std::size_t begin, std::size_t end, std::size_t worker) {
        store(begin, end, worker);
        for (ModelUnit& unit : units.subspan(begin, end - begin)) {
          if (attends_at_once(unit, vectors.layer, nullptr)) {
            attend_chunk(workers_[worker], unit, vectors, out);
            continue;
          }
          for (std::size_t i = 0; i < vectors.tokens; ++i) {
            const TokenQuery token{vectors.q + i * width, first + static_cast<Position>(i),
                                   out + i * width};
            attend_query(workers_[worker], unit, vectors, {vectors.layer, i, token}, nullptr);
          }
        }
      });
}

// Queries outside, units inside, on one thread.
void CachedAttention::attend_one_by_one(const LayerVectors& vectors,
                                        float* out,
                                        AttentionObserver* observer) {
  const std::size_t width = config_.query_width();
  const Position first = seen() - static_cast<Position>(chunk_);
  const std::span<ModelUnit> units = units_of(vectors.layer);
  for (std::size_t i = 0; i < vectors.tokens; ++i) {
    const TokenQuery token{vectors.q + i * width, first + static_cast<Position>(i),
                           out + i * width};
    decide_for_next_query(vectors.layer);
    for (ModelUnit& unit : units) {
      if (attends_at_once(unit, vectors.layer, observer)) continue;
      attend_query(workers_.front(), unit, vectors, {vectors.layer, i, token}, observer);
    }
  }
  for (ModelUnit& unit : units) {
    if (!attends_at_once(unit, vectors.layer, observer)) continue;
    attend_chunk(workers_.front(), unit, vectors, out);
  }
}

void CachedAttention::store_layer(const LayerVectors& vectors) {
  for (ModelUnit& unit : units_of(vectors.layer)) {
    KV_CHECK(unit.settles_at_once() && !unit.needs().any() && !unit.spans_layers);
    workers_.front().write(unit, vectors, unit.cache.residents() - vectors.tokens);
    for (std::size_t i = 0; i < vectors.tokens; ++i) static_cast<void>(unit.cache.next_query());
  }
}

void CachedAttention::replace(const LayerVectors& vectors) {
  for (ModelUnit& unit : units_) {
    if (unit.holds(vectors.layer)) workers_.front().write(unit, vectors, 0);
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
      if (vectors.output_norms == nullptr) continue;
      const std::size_t heads = config_.query_width() / dim;
      token.add_output_norms(vectors.output_norms + i * heads + group.first_head, group.heads);
    }
  }
}

Visible CachedAttention::view(ModelUnit& unit, const UnitQuery& query) {
  if (!unit.spans_layers) return unit.cache.next_query();
  if (sees_all_before()) return unit.cache.visible_to(query.token.position);
  // The view holds until the cache changes, which is after the last layer.
  KV_CHECK(chunk_ == 1);
  if (query.layer == 0) unit.once = unit.cache.next_query();
  return unit.once;
}

void CachedAttention::attend_query(UnitAttention& worker,
                                   ModelUnit& unit,
                                   const LayerVectors& vectors,
                                   const UnitQuery& query,
                                   AttentionObserver* observer) {
  // A token is stored just before its own query, the first one that sees it. So no more than the
  // newest are ever held in full precision, however long the chunk.
  if (!unit.settles_at_once()) {
    const std::size_t rank = unit.cache.residents() - vectors.tokens + query.index;
    worker.write(unit, token_of(config_, vectors, query.index), rank);
  }
  worker.attend(unit, view(unit, query), query, classes_, observer);
}

void CachedAttention::attend_chunk(UnitAttention& worker,
                                   ModelUnit& unit,
                                   const LayerVectors& vectors,
                                   float* out) {
  const auto last = static_cast<Position>(seen() - 1);
  const Visible visible = unit.cache.visible_to(last);
  // The cache counts its queries, though their views are not needed one by one.
  for (std::size_t i = 0; i < vectors.tokens && !unit.spans_layers; ++i) {
    static_cast<void>(unit.cache.next_query());
  }
  worker.attend_chunk(unit, visible, vectors, last, out);
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

#include "kvcheck/model/attention/unit_attention.h"

#include <algorithm>

namespace kv::model {
namespace {

// How many of the first ranks a window of `window` positions (0: none) hides from the query at
// `position`, which is the last of what is visible. With `ranks` the window counts ranks. Cost:
// O(log visible).
std::size_t out_of_window(const Visible& visible,
                          std::size_t window,
                          Position position,
                          bool ranks) {
  const std::size_t n = visible.size();
  if (window == 0) return 0;
  if (ranks) return n > window ? n - window : 0;
  // Positions grow with ranks. The query sees itself, so the last rank is never hidden.
  std::size_t low = 0;
  for (std::size_t high = n - 1; low < high;) {
    const std::size_t middle = (low + high) / 2;
    const bool hidden = visible.position_of(middle) + window <= position;
    (hidden ? low : high) = hidden ? middle + 1 : middle;
  }
  return low;
}

// What is left without the first `count` ranks. The positions of the middle are those of `visible`.
Visible without_first(Visible visible, std::size_t count) {
  const std::size_t sinks = std::min(count, visible.sinks.size());
  visible.sinks.first += static_cast<Position>(sinks);
  const std::size_t middle = std::min(count - sinks, visible.middle.size());
  visible.middle = visible.middle.subspan(middle);
  visible.recent.first += static_cast<Position>(count - sinks - middle);
  return visible;
}

}  // namespace

UnitAttention::UnitAttention(const ModelConfig& config,
                             const Spec& spec,
                             KeyStorage keys,
                             std::size_t length)
    : config_(&config), ranks_(are_ranks(spec.positions)) {
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    const LayerRotation rotation = config.layer(layer).rotation;
    auto& parts = parts_[static_cast<std::size_t>(rotation)];
    if (parts != nullptr) continue;
    const Rope rope = rope_of(config, rotation);
    parts =
        std::make_unique<LayerAttention>(config, rope, rope_frequencies(config, rotation, length),
                                         rotation_rules(rope, spec, keys), keys);
  }
}

LayerAttention& UnitAttention::parts_of(std::size_t layer) const {
  return *parts_[static_cast<std::size_t>(config_->layer(layer).rotation)];
}

void UnitAttention::write(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank) {
  LayerAttention& parts = parts_of(vectors.layer);
  parts.rope.reserve(unit.cache.slots().used());  // which are at least as many as the tokens
  parts.writer.write(unit, vectors, first_rank);
}

// Keys first: a shift rounds a key to the tier it is in, and settling may then quantise it.
void UnitAttention::bring_up_to_date(KvHeadGroup& group, Position query, const Visible& visible) {
  LayerAttention& parts = parts_of(group.layer);
  if (parts.rules.keys == KeyRotation::at_rank) {
    parts.shift.close_gaps(group.store, slots_, group.places);
  }
  group.store.settle(query, visible, slots_);
}

void UnitAttention::attend(ModelUnit& unit,
                           const Visible& visible,
                           const UnitQuery& query,
                           std::span<const TokenClass> classes,
                           AttentionObserver* observer) {
  parts_of(query.layer).rope.reserve(unit.cache.slots().used());
  if (!unit.groups.front().pages) {
    attend_visible(unit, visible, query, observer);
    if (unit.needs().any() && !unit.spans_layers) {
      unit.observations.show(unit.cache, query.index, unit.heads, classes);
    }
    return;
  }
  // Units do not span layers here, and no policy asks for anything: a spec that selects is dense.
  for (KvHeadGroup& group : unit.groups) {
    parts_of(query.layer).pages.attend(unit.cache, group, query.token, observer);
  }
}

void UnitAttention::attend_visible(ModelUnit& unit,
                                   const Visible& visible,
                                   const UnitQuery& query,
                                   AttentionObserver* observer) {
  unit.cache.slots().list(visible.size(), slots_);
  const std::size_t window = config_->layer(query.layer).window;
  const std::size_t hidden = out_of_window(visible, window, query.token.position, ranks_);
  const Visible within = without_first(visible, hidden);
  const bool wants_mass = unit.gathers_mass() || observer != nullptr;
  for (KvHeadGroup& group : unit.groups) {
    if (group.layer != query.layer) continue;
    bring_up_to_date(group, query.token.position, visible);
    const AttendedRows rows{group.store, group.first_head, group.heads,
                            within,      hidden,           std::span(slots_).subspan(hidden)};
    const auto mass = parts_of(query.layer).query.attend(rows, query.token, wants_mass);
    if (wants_mass) show_mass(unit, group, visible, query, mass, observer);
  }
}

// Shows the attention of each head of a group, which covers the last of what is visible.
void UnitAttention::show_mass(ModelUnit& unit,
                              const KvHeadGroup& group,
                              const Visible& visible,
                              const UnitQuery& query,
                              std::span<const float> mass,
                              AttentionObserver* observer) {
  const std::size_t n = mass.size() / group.heads;
  const std::size_t hidden = visible.size() - n;
  for (std::size_t h = 0; h < group.heads; ++h) {
    row_.assign(hidden, 0.0F);
    const auto part = mass.subspan(h * n, n);
    row_.insert(row_.end(), part.begin(), part.end());
    if (unit.needs().attention) unit.observations.add_mass(query.index, row_);
    if (unit.repeated) unit.repeated->add(row_);
    if (observer == nullptr) continue;
    observer->on_row(query.layer, group.first_head + h, query.token.position, visible, row_);
  }
}

void UnitAttention::attend_chunk(ModelUnit& unit,
                                 const Visible& visible,
                                 const LayerVectors& vectors,
                                 Position last,
                                 float* out) {
  parts_of(vectors.layer).rope.reserve(unit.cache.slots().used());
  unit.cache.slots().list(visible.size(), slots_);
  for (KvHeadGroup& group : unit.groups) {
    if (group.layer != vectors.layer) continue;
    bring_up_to_date(group, last, visible);
    const AttendedRows rows{group.store, group.first_head, group.heads, visible, 0, slots_};
    parts_of(vectors.layer).chunk.attend(rows, vectors, last, out);
  }
}

}  // namespace kv::model

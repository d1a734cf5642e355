#include "kvcheck/sim/replay/cell_state.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

// The numbers come in registers. They have just been stored one by one; the compiler would load
// them in pairs, which waits until the stores are through.
template <typename Sums>
[[gnu::noinline]] void add_to(Sums& sums, double mass, double kl, double overlap, double error) {
  sums.retained_mass += mass;
  sums.kl_to_dense += kl;
  sums.topk_overlap += overlap;
  sums.output_error += error;
}

}  // namespace

SeriesSums& SeriesSums::operator+=(const SeriesSums& other) {
  retained_mass += other.retained_mass;
  kl_to_dense += other.kl_to_dense;
  topk_overlap += other.topk_overlap;
  output_error += other.output_error;
  stored += other.stored;
  kept += other.kept;
  visible += other.visible;
  rows += other.rows;
  steps += other.steps;
  return *this;
}

CellState::CellState(const Trace& trace,
                     const std::vector<Lane>& lanes,
                     const Cell& cell,
                     std::span<const TokenClass> classes,
                     const Rotation& rotation,
                     std::size_t series_width,
                     std::size_t residencies)
    : info_(trace.info()),
      lanes_(lanes),
      spec_(cell.spec),
      classes_(classes),
      series_width_(series_width),
      unit_of_lane_(lanes.size()),
      series_of_lane_(lanes.size()),
      sums_(lanes.size()) {
  for (UnitShape& shape : units_of(info_, lanes, spec_.unit)) {
    const Lane& first = lanes[shape.lanes.front()];
    const Rng rng(seed_for(cell.seed, spec_.policy->name),
                  stream_of_unit(info_, first, spec_.unit));
    const Spec own = unit_spec(spec_, grid_of(info_), kv_head_of(info_, first));
    UnitCache cache(own, std::make_unique<CounterDraws>(rng));
    cache.rotate_by(&rotation);
    for (const std::size_t lane : shape.lanes) unit_of_lane_[lane] = units_.size();
    units_.emplace_back(std::move(shape), std::move(cache), info_.tokens, spec_.positions);
    units_.back().view.selected = own.selects();
    if (part_.residency.size() < residencies) {
      part_.residency.push_back(
          {info_.layers[first.layer], first.head,
           std::vector<Position>(info_.tokens, static_cast<Position>(info_.tokens + 1))});
    }
  }
  std::vector<LayerCache> caches;
  for (UnitState& unit : units_) {
    caches.push_back({lanes_[unit.shape.lanes.front()].layer, &unit.cache});
  }
  groups_ = grouped(caches);
  for (HeadMetrics& sum : sums_) sum.output_error = 0;
  const std::size_t points = (info_.tokens + series_width - 1) / series_width;
  for (const UnitShape& shape : units_of(info_, lanes, Unit::kv_head)) {
    for (const std::size_t lane : shape.lanes) series_of_lane_[lane] = part_.series.size();
    part_.series.emplace_back(points);
    if (spec_.selects()) pages_.emplace_back(spec_.top_pages, info_.head_dim);
  }
  part_.kept.resize(info_.tokens);
  part_.lifetimes.resize(info_.tokens + 1);
}

void CellState::begin_query(Position query) {
  point_ = query / series_width_;
  const bool opens = query == units_.front().cache.seen();
  for (CacheGroup& group : groups_) {
    if (opens) group.begin_chunk(std::min<std::size_t>(spec_.chunk, info_.tokens - query));
    group.before_query();
  }
  for (std::size_t index = 0; index < units_.size(); ++index) {
    UnitState& unit = units_[index];
    if (opens) unit.stored_now = unit.cache.stored();
    unit.view.visible = &unit.cache.next_query();
    note_evictions(unit, index, query);
    const std::size_t seen =
        unit.view.selected ? attended_by(spec_.top_pages, query) : unit.view.visible->size();
    if (unit.view.wants_row && unit.shared()) unit.mass.assign(seen, 0.0F);
    if (unit.cache.needs().vectors()) unit.vectors.clear(info_.head_dim);
    if (unit.cache.needs().token_classes) unit.token_class = classes_[query];
    unit.stored += static_cast<double>(unit.stored_now);
    unit.stored_peak = std::max<std::uint64_t>(unit.stored_peak, unit.stored_now);
    unit.seen += static_cast<double>(seen);
    unit.seen_peak = std::max<std::uint64_t>(unit.seen_peak, seen);
    SeriesSums& point = point_of(unit.shape.lanes.front());
    point.stored += static_cast<double>(unit.stored_now);
    point.visible += static_cast<double>(seen);
    ++point.steps;
  }
}

void CellState::add_row(std::size_t lane,
                        const DenseRow& row,
                        const DenseRows& source,
                        SeenRows& seen) {
  UnitState& unit = units_[unit_of_lane_[lane]];
  const View view = unit.view.selected ? select(lane, unit, row.query, source) : unit.view;
  const HeadMetrics metrics = seen.measure(row, source, view);
  SeriesSums& point = point_of(lane);
  const auto [mass, kl, overlap, error] = metrics;
  add_to(sums_[lane], mass, kl, overlap, error);
  add_to(point, mass, kl, overlap, error);
  ++point.rows;
  const Needs& needs = unit.cache.needs();
  if (!needs.any()) return;
  if (needs.vectors()) add_vectors(lane, unit, row.query, source);
  const std::span<const float> paid = needs.attention ? seen.mass() : std::span<const float>();
  if (!unit.shared()) return unit.cache.observe(unit.shown(paid));
  if (needs.attention) kernels().add(unit.mass.data(), paid.data(), paid.size());
}

Observation CellState::UnitState::shown(std::span<const float> row) const {
  Observation shown{.mass = row, .token_class = token_class};
  vectors.show(cache.needs(), shown);
  return shown;
}

// What the lane's head attends to, of all that its unit stores.
View CellState::select(std::size_t lane, UnitState& unit, Position query, const DenseRows& source) {
  PageChoice& pages = pages_[series_of_lane_[lane]];
  const KeyValues& held = *source.key_values();
  if (pages.tokens() == query) pages.add(held.keys() + query * held.dim());
  vector_.resize(held.dim());
  source.rotated_query(query, query, vector_.data());
  unit.selected = pages.select(vector_.data(), query);
  View view = unit.view;
  view.visible = &unit.selected;
  return view;
}

// Keys and values are those of the kv-head that the lane reads: once for all lanes that read it.
void CellState::add_vectors(std::size_t lane,
                            UnitState& unit,
                            Position query,
                            const DenseRows& source) {
  const Needs& needs = unit.cache.needs();
  const bool opens = lane == unit.shape.lanes.front() ||
                     kv_head_of(info_, lanes_[lane]) != kv_head_of(info_, lanes_[lane - 1]);
  vector_.resize(info_.head_dim);
  if (needs.keys && opens) {
    source.raw_key(query, vector_.data());
    unit.vectors.add_keys(vector_.data(), 1);
  }
  if (needs.values && opens) {
    source.raw_value(query, vector_.data());
    unit.vectors.add_values(vector_.data(), 1);
  }
  if (needs.queries) unit.vectors.add_queries(source.raw_query(query).data(), 1);
}

void CellState::end_query(Position query) {
  for (UnitState& unit : units_) {
    if (unit.cache.needs().any() && unit.shared()) {
      const auto heads = static_cast<float>(unit.shape.lanes.size());
      if (unit.view.wants_row) kernels().scale(unit.mass.data(), 1.0F / heads, unit.mass.size());
      unit.cache.observe(unit.shown(unit.mass));
    }
  }
  if (query + 1 == units_.front().cache.seen()) {
    for (CacheGroup& group : groups_) group.end_chunk();
  }
  for (std::size_t index = 0; index < units_.size(); ++index) {
    UnitState& unit = units_[index];
    note_evictions(unit, index, query + 1);
    point_of(unit.shape.lanes.front()).kept += static_cast<double>(unit.cache.stored());
  }
}

void CellState::note_evictions(UnitState& unit, std::size_t index, Position seen) {
  if (unit.cache.evicted().empty()) return;
  for (const Position position : unit.cache.evicted()) {
    const Position lifetime = seen - position;
    ++part_.lifetimes[lifetime];
    unit.lifetimes += static_cast<double>(lifetime);
    ++unit.evicted;
    unit.gone[position] = 1;
    if (index < part_.residency.size()) part_.residency[index].evicted_at[position] = seen;
  }
  unit.cache.clear_evicted();
}

UnitResult CellState::unit_result(const UnitState& unit) const {
  const Lane& first = lanes_[unit.shape.lanes.front()];
  const auto queries = static_cast<double>(info_.tokens);
  const TrimCounts& counts = unit.cache.counts();
  UnitResult result;
  result.layer = info_.layers[first.layer];
  result.head = first.head;
  result.stored_mean = unit.stored / queries;
  result.stored_peak = unit.stored_peak;
  result.visible_mean = unit.seen / queries;
  result.visible_peak = unit.seen_peak;
  result.kept_at_end = unit.cache.residents();
  result.evictions = unit.evicted;
  result.trims = counts.trims;
  result.moved = counts.moved;
  if (unit.evicted > 0) result.lifetime_mean = unit.lifetimes / static_cast<double>(unit.evicted);
  return result;
}

CellPart CellState::finish() {
  const auto queries = static_cast<double>(info_.tokens);
  const bool has_values = info_.kind == TraceKind::qkv;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const HeadMetrics& sum = sums_[lane];
    const HeadMetrics mean = {sum.retained_mass / queries, sum.kl_to_dense / queries,
                              sum.topk_overlap / queries,
                              has_values ? sum.output_error / queries : not_measured};
    part_.heads.push_back({info_.layers[lanes_[lane].layer], lanes_[lane].head, mean});
  }
  for (const UnitState& unit : units_) {
    part_.units.push_back(unit_result(unit));
    const Visible all = unit.cache.all();
    for (Position p = 0; p < all.sinks.last; ++p) ++part_.kept[p];
    for (const Position p : all.middle) ++part_.kept[p];
    for (Position p = all.recent.first; p < all.recent.last; ++p) ++part_.kept[p];
  }
  return std::move(part_);
}

}  // namespace kv

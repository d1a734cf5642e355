#include "kvcheck/sim/replay/cell_state.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

// The numbers are passed in registers. They were just stored one by one, and the compiler would
// load them in pairs, which has to wait for both stores.
template <typename Sums>
[[gnu::noinline]] void add_to(Sums& sums, double mass, double kl, double overlap, double error) {
  sums.retained_mass += mass;
  sums.kl_to_dense += kl;
  sums.topk_overlap += overlap;
  sums.output_error += error;
}

// Counts a query as many times as it stands for.
template <typename Sums>
void add_weighted(Sums& sums, const HeadMetrics& metrics, double weight) {
  add_to(sums, weight * metrics.retained_mass, weight * metrics.kl_to_dense,
         weight * metrics.topk_overlap, weight * metrics.output_error);
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

CellState::CellState(const CellInputs& inputs)
    : info_(inputs.trace.info()),
      lanes_(inputs.lanes),
      spec_(inputs.cell.spec),
      classes_(inputs.classes),
      series_width_(inputs.series_width),
      unit_of_lane_(lanes_.size()),
      series_of_lane_(lanes_.size()),
      weights_(inputs.weights),
      sums_(lanes_.size()) {
  add_units(inputs);
  add_series();
  for (HeadMetrics& sum : sums_) sum = {weights_.known(), 0, weights_.known(), 0};
  if (samples_queries(info_)) errors_.assign(lanes_.size(), SamplingError(weights_));
  part_.kept.resize(info_.tokens);
  part_.lifetimes.resize(info_.tokens + 1);
}

void CellState::add_units(const CellInputs& inputs) {
  for (UnitShape& shape : units_of(info_, lanes_, spec_.unit)) {
    const Lane& first = lanes_[shape.lanes.front()];
    const Rng rng(seed_for(inputs.cell.seed, spec_.policy->name),
                  stream_of_unit(info_, first, spec_.unit));
    const Spec own = unit_spec(spec_, grid_of(info_), place_in_grid(info_, first));
    UnitCache cache(own, std::make_unique<CounterDraws>(rng));
    cache.rotate_by(&inputs.rotations.shown(first.layer));
    for (const std::size_t lane : shape.lanes) unit_of_lane_[lane] = units_.size();
    units_.emplace_back(std::move(shape), std::move(cache), info_.tokens, spec_.positions);
    units_.back().view.selected = own.selects();
    if (part_.residency.size() < inputs.residencies) {
      part_.residency.push_back(
          {info_.layers[first.layer], first.head,
           std::vector<Position>(info_.tokens, static_cast<Position>(info_.tokens + 1))});
    }
  }
  // Pools point to the caches, which move while units are added, so pools are made last.
  std::vector<LayerCache> caches;
  for (UnitState& unit : units_) {
    caches.push_back({lanes_[unit.shape.lanes.front()].layer, &unit.cache});
  }
  pools_ = budget_pools(caches);
}

void CellState::add_series() {
  const std::size_t points = (info_.tokens + series_width_ - 1) / series_width_;
  for (const UnitShape& shape : units_of(info_, lanes_, Unit::kv_head)) {
    for (const std::size_t lane : shape.lanes) series_of_lane_[lane] = part_.series.size();
    part_.series.emplace_back(points);
    if (samples_queries(info_)) {
      part_.queries.emplace_back(recorded_queries(info_), HeadMetrics{.output_error = 0});
    }
    if (spec_.selects()) pages_.emplace_back(spec_.top_pages, info_.head_dim);
  }
}

void CellState::begin_query(Position query) {
  point_ = query / series_width_;
  // All units of a cell have the same chunks.
  const bool opens = query == units_.front().cache.seen();
  for (BudgetPool& pool : pools_) {
    if (opens) pool.begin_chunk(next_chunk(spec_, query, info_.tokens));
    pool.before_query();
  }
  for (std::size_t index = 0; index < units_.size() && !failed_; ++index) {
    begin_query_of(index, query, opens);
  }
}

void CellState::begin_query_of(std::size_t index, Position query, bool opens) {
  UnitState& unit = units_[index];
  if (opens) unit.stored_now = unit.cache.stored();
  unit.view.visible = &unit.cache.next_query();
  failed_ = unit.failed();
  note_evictions(unit, index, query);
  const std::size_t visible =
      unit.view.selected ? attended_by(spec_.top_pages, query) : unit.view.visible->size();
  const bool classified = unit.cache.needs().token_classes;
  unit.begin_observation(visible, info_.head_dim,
                         classified ? classes_[query] : TokenClass::content);
  unit.count(visible);
  SeriesSums& point = point_of(unit.shape.lanes.front());
  point.stored += static_cast<double>(unit.stored_now);
  point.visible += static_cast<double>(visible);
  ++point.steps;
}

void CellState::UnitState::begin_observation(std::size_t visible,
                                             std::size_t head_dim,
                                             TokenClass its_class) {
  if (view.wants_row && shared()) mass.assign(visible, 0.0F);
  if (cache.needs().vectors()) vectors.clear(head_dim);
  token_class = its_class;
}

void CellState::UnitState::count(std::size_t visible) {
  stored += static_cast<double>(stored_now);
  stored_peak = std::max<std::uint64_t>(stored_peak, stored_now);
  seen += static_cast<double>(visible);
  seen_peak = std::max<std::uint64_t>(seen_peak, visible);
}

Result<void> CellState::check_promises() const {
  for (const UnitState& unit : units_) {
    if (unit.failed()) return malformed(unit.cache.broken_promise());
  }
  return {};
}

void CellState::add_row(std::size_t lane,
                        const DenseRow& row,
                        const DenseRows& source,
                        SeenRows& seen) {
  UnitState& unit = units_[unit_of_lane_[lane]];
  const View view = unit.view.selected ? select(lane, unit, row, source) : unit.view;
  const HeadMetrics metrics = seen.measure(row, source, view);
  SeriesSums& point = point_of(lane);
  const double weight = weights_.weight(row.row);
  if (weights_.counts(row.row)) add_weighted(sums_[lane], metrics, weight);
  add_weighted(point, metrics, weight);
  point.rows += weight;
  if (!errors_.empty()) {
    errors_[lane].add(row.row, values_of(metrics));
    add_weighted(part_.queries[series_of_lane_[lane]][row.row], metrics, 1);
  }
  const Needs& needs = unit.cache.needs();
  if (!needs.any()) return;
  if (needs.vectors()) add_vectors(lane, unit, row.query, row.row, source);
  show(unit, seen);
}

Observation CellState::UnitState::shown(std::span<const float> row) const {
  Observation shown{.mass = row, .token_class = token_class};
  vectors.show(cache.needs(), shown);
  return shown;
}

// The view of the lane's head, which selects from all tokens of its unit. Lanes of one kv-head
// share its pages, so only the first of them adds the key.
View CellState::select(std::size_t lane,
                       UnitState& unit,
                       const DenseRow& row,
                       const DenseRows& source) {
  PageChoice& pages = pages_[series_of_lane_[lane]];
  const KeyValues& held = *source.key_values();
  while (pages.tokens() <= row.query) pages.add(held.keys() + pages.tokens() * held.dim());
  vector_.resize(held.dim());
  source.rotated_query(row.row, row.query, vector_.data());
  unit.selected = pages.select(vector_.data(), row.query);
  View view = unit.view;
  view.visible = &unit.selected;
  return view;
}

void CellState::end_query(Position query) {
  for (UnitState& unit : units_) {
    if (unit.cache.needs().any() && unit.shared()) {
      const auto heads = static_cast<float>(unit.shape.lanes.size());
      if (unit.view.wants_row) kernels().scale(unit.mass.data(), 1.0F / heads, unit.mass.size());
      unit.cache.observe(unit.shown(unit.mass));
      failed_ = unit.failed();
      if (failed_) return;
    }
  }
  if (query + 1 == units_.front().cache.seen()) {
    for (BudgetPool& pool : pools_) pool.end_chunk();
  }
  for (std::size_t index = 0; index < units_.size(); ++index) {
    UnitState& unit = units_[index];
    failed_ = failed_ || unit.failed();
    note_evictions(unit, index, query + 1);
    point_of(unit.shape.lanes.front()).kept += static_cast<double>(unit.cache.stored());
  }
}

void CellState::note_evictions(UnitState& unit, std::size_t index, Position seen) {
  if (unit.cache.evicted().empty()) return;
  if (!unit.decided_on_sample) {
    unit.decided_on_sample = decided_on_sample(unit.cache.needs(), seen);
  }
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
  const double queries = weights_.total();
  const bool has_values = info_.kind == TraceKind::qkv;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const HeadMetrics& sum = sums_[lane];
    const HeadMetrics mean = {sum.retained_mass / queries, sum.kl_to_dense / queries,
                              sum.topk_overlap / queries,
                              has_values ? sum.output_error / queries : not_measured};
    part_.heads.push_back({info_.layers[lanes_[lane].layer], lanes_[lane].head, mean});
    if (!errors_.empty()) part_.heads.back().half_widths = metrics_of(errors_[lane].half_widths());
  }
  for (const UnitState& unit : units_) {
    part_.decided_on_sample = part_.decided_on_sample || unit.decided_on_sample;
    part_.units.push_back(unit_result(unit));
    for_each_position(unit.cache.all(), [&](Position p) { ++part_.kept[p]; });
  }
  return std::move(part_);
}

}  // namespace kv

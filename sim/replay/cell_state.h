// One cell's caches and sums over one group of heads, while a replay runs.
//
// A group is a set of query heads that are replayed together because some cell shares residents or
// a budget over them: the heads of a (layer, kv-head), of a layer, or of the whole model. Lanes are
// the query heads of the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/token_vectors.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/seen_rows.h"
#include "kvcheck/sim/samples/query_weights.h"

namespace kv {

// One query head of the group, by index into the trace's recorded layers.
struct Lane {
  std::size_t layer = 0;
  std::size_t head = 0;

  bool operator==(const Lane&) const = default;
};

// One unit of a cell, as a part of the group's lanes.
struct UnitShape {
  std::vector<std::size_t> lanes;  // indices into the group's lanes
  std::size_t kv_heads = 0;        // how many kv-heads' rows one resident holds
};

// The units that `unit` makes of these lanes, in order of their first lane.
std::vector<UnitShape> units_of(const TraceInfo& info, const std::vector<Lane>& lanes, Unit unit);

// The layers and kv-heads over which budgets are distributed, and the lane's place among them.
HeadGrid grid_of(const TraceInfo& info);
KvHead place_in_grid(const TraceInfo& info, const Lane& lane);

// The stream of random numbers of this lane's unit. It is keyed by the layer's number in the model
// and by the head or kv-head, so that draws do not depend on which layers were recorded. Wider
// units use a number beyond all heads.
std::uint32_t stream_of_unit(const TraceInfo& info, const Lane& first, Unit unit);

// Running sums of one SeriesPoint.
struct SeriesSums {
  double retained_mass = 0;
  double kl_to_dense = 0;
  double topk_overlap = 0;
  double output_error = 0;
  double stored = 0;
  double kept = 0;
  double visible = 0;
  double rows = 0;          // lanes times queries, each recorded query as many as it stands for
  std::uint64_t steps = 0;  // units times queries

  SeriesSums& operator+=(const SeriesSums& other);
};

// The results of one cell for one group, to be joined over the groups.
struct CellPart {
  std::vector<HeadResult> heads;  // in lane order
  std::vector<UnitResult> units;
  // Per kv-head of the group, then per point. Sums over wider sets would depend on the other cells
  // of the replay, because these determine the groups.
  std::vector<std::vector<SeriesSums>> series;
  // Likewise per kv-head, then per recorded query: the sums over its lanes. Empty unless the
  // queries are a sample, because only intervals need them.
  std::vector<std::vector<HeadMetrics>> queries;
  // Whether a decision of a policy depended on queries that were not recorded.
  bool decided_on_sample = false;
  std::vector<std::uint32_t> kept;
  std::vector<std::uint64_t> lifetimes;
  std::vector<Residency> residency;  // of the first units, as many as are recorded
};

// The inputs of a cell's replay. All references must outlive the CellState.
struct CellInputs {
  const Trace& trace;
  const std::vector<Lane>& lanes;
  const Cell& cell;
  std::span<const TokenClass> classes;  // the tokens'; empty if the policy does not ask for them
  const TraceRotations& rotations;      // how positions rotate vectors
  const QueryWeights& weights;          // of the trace's queries
  std::size_t series_width = 1;         // queries per SeriesPoint
  std::size_t residencies = 0;          // the number of first units whose residency is recorded
};

class CellState {
 public:
  explicit CellState(const CellInputs& inputs);

  // Call it before the rows of `query`: begins a chunk if one starts here, and derives the visible
  // sets.
  void begin_query(Position query);

  // Adds the row of one lane.
  void add_row(std::size_t lane, const DenseRow& row, const DenseRows& source, SeenRows& seen);

  // In place of it, where the query is not recorded: the policy gets the token's own key and value,
  // and what the last recorded query (the first, before it) has of the rest.
  void carry_row(std::size_t lane, Position query, const DenseRows& source, SeenRows& seen);

  // Call it after the rows of `query`: policies observe, and a complete chunk ends.
  void end_query(Position query);

  // The cache of a unit, in order of their first lanes.
  [[nodiscard]] const UnitCache& cache(std::size_t unit) const { return units_[unit].cache; }

  // Whether the policy broke its interface in some unit. The results are then invalid, and nothing
  // but check_promises() may be called any more.
  [[nodiscard]] bool failed() const { return failed_; }

  // The error, if it did.
  [[nodiscard]] Result<void> check_promises() const;

  // Computes the means and returns the results. Call it once, after the last query.
  CellPart finish();

 private:
  struct UnitState {
    UnitState(UnitShape its_shape, UnitCache its_cache, std::size_t tokens, Positions positions)
        : shape(std::move(its_shape)), cache(std::move(its_cache)), gone(tokens) {
      view.gone = gone;  // the bytes do not move when the unit does
      view.positions = positions;
      view.wants_row = cache.wants_rows();
    }

    // The observation of the current query for the policy.
    [[nodiscard]] Observation shown(std::span<const float> mass) const;

    // Prepares the inputs of the policy for the current query, over `visible` residents.
    void begin_observation(std::size_t visible, std::size_t head_dim, TokenClass its_class);

    // Counts the stored and visible rows of the current query.
    void count(std::size_t visible);

    // Whether the policy broke its interface.
    [[nodiscard]] bool failed() const { return !cache.broken_promise().empty(); }

    // Whether several query heads share the unit.
    [[nodiscard]] bool shared() const { return shape.lanes.size() > 1; }

    UnitShape shape;
    UnitCache cache;
    View view;                       // of the current query
    std::vector<std::uint8_t> gone;  // [tokens]
    std::vector<float> mass;         // the sum of its lanes' rows for the current query
    TokenVectors vectors;            // of the current query, if the policy needs any
    TokenClass token_class = TokenClass::content;
    double stored = 0;  // sums over queries
    double seen = 0;
    std::uint64_t stored_peak = 0;
    std::uint64_t seen_peak = 0;
    double lifetimes = 0;
    std::uint64_t evicted = 0;
    std::size_t stored_now = 0;
    Visible selected{};  // of the current head, if queries select tokens
    bool decided_on_sample = false;
  };

  SeriesSums& point_of(std::size_t lane) { return part_.series[series_of_lane_[lane]][point_]; }

  void add_units(const CellInputs& inputs);
  void add_series();
  void begin_query_of(std::size_t index, Position query, bool opens);
  View select(std::size_t lane, UnitState& unit, const DenseRow& row, const DenseRows& source);
  void add_vectors(
      std::size_t lane, UnitState& unit, Position query, std::size_t row, const DenseRows& source);
  void show(UnitState& unit, const SeenRows& seen);
  [[nodiscard]] bool decided_on_sample(const Needs& needs, Position seen) const;
  void note_evictions(UnitState& unit, std::size_t index, Position seen);
  [[nodiscard]] UnitResult unit_result(const UnitState& unit) const;

  const TraceInfo& info_;
  const std::vector<Lane>& lanes_;
  const Spec& spec_;
  std::span<const TokenClass> classes_;
  std::size_t series_width_;
  bool failed_ = false;
  std::size_t point_ = 0;  // the query's, in each of part_.series
  std::vector<UnitState> units_;
  std::vector<BudgetPool> pools_;  // of the units' caches
  std::vector<std::size_t> unit_of_lane_;
  std::vector<std::size_t> series_of_lane_;  // into part_.series
  const QueryWeights& weights_;
  std::vector<HeadMetrics> sums_;      // per lane
  std::vector<SamplingError> errors_;  // per lane, if queries are a sample
  std::vector<PageChoice> pages_;      // per kv-head, if queries select tokens
  std::vector<float> vector_;          // scratch: one head's vector
  CellPart part_;
};

inline constexpr std::size_t most_recorded_seeds = 16;

// Of which units a replay records when each token was resident; `one` is the last layer's first.
enum class RecordedUnits { none, one, all };

// For each cell. The first most_recorded_seeds seeds of a spec are recorded: all units, as long as
// those of its seeds so far have at most `most_entries` entries (tokens times query heads of all
// layers), and one unit otherwise. If `most_entries` is 0, only the first seed is recorded.
std::vector<RecordedUnits> recorded_units(const TraceInfo& info,
                                          std::span<const Cell> cells,
                                          std::size_t most_entries);

}  // namespace kv

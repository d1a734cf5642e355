// One unit of a model: its cache, and the vectors of its residents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/attention/chunk_observations.h"
#include "kvcheck/model/storage/kv_store.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/traces/trace.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::model {

// Query heads of one unit that read the same kv-head. With unit=head these are not all of its
// query heads, and each unit stores the vectors of its own residents.
struct KvHeadGroup {
  std::size_t layer = 0;
  std::size_t kv_head = 0;
  std::size_t first_head = 0;
  std::size_t heads = 0;
  KvStore store;
  std::vector<Position> places{};     // slot -> the rank that its key is rotated for
  std::optional<PageChoice> pages{};  // where queries select pages
};

struct ModelUnit {
  std::size_t layer = 0;  // of its first head
  std::size_t head = 0;
  std::size_t heads = 0;  // query heads that share it
  bool spans_layers = false;
  std::vector<KvHeadGroup> groups;  // by layer, then kv-head
  Rng rng;                          // of its policy's draws
  UnitCache cache;
  ChunkObservations observations;
  std::optional<RepeatedShares> repeated{};  // while passes repeat the prompt
  Visible once{};  // what the query sees, of a unit that spans layers and sees windows

  // Whether the layer's vectors are among those it stores.
  [[nodiscard]] bool holds(std::size_t at_layer) const { return spans_layers || layer == at_layer; }

  // What its policy asks for of the stream's own queries and tokens.
  [[nodiscard]] Needs needs() const { return cache.needs().of_stream(); }

  // Whether the attention of each query is gathered for the policy.
  [[nodiscard]] bool gathers_mass() const { return needs().attention || repeated; }

  // Whether nothing that is stored is quantised between the queries of a chunk.
  [[nodiscard]] bool settles_at_once() const { return groups.front().store.settles_at_once(); }
};

// The units of a model under the spec, by layer, then head; those of one layer alone if `only`
// names it. Draws are keyed as in a replay: the same spec and seed keep the same residents.
std::vector<ModelUnit> make_units(const ModelConfig& config,
                                  const Spec& spec,
                                  std::uint64_t seed,
                                  const KvFormat& storage,
                                  std::optional<std::size_t> only = {});

// A copy of the unit that reads on by itself. Requires that its cache can be forked.
ModelUnit fork_of(const ModelUnit& unit);

// The pools of their caches, which refer to the units.
std::vector<BudgetPool> pools_of(std::vector<ModelUnit>& units);

// What a replay would know of a trace recorded from this model; tokens and names are left open.
TraceInfo describe_model(const ModelConfig& config);

}  // namespace kv::model

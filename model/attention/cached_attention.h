// Attention over policed caches, for all layers of a model.
//
// The simulator's UnitCache says which tokens are resident, visible and at which position; the code
// here and in the classes that it uses handles only the vectors, in the slots that the cache names:
//
//   VectorWriter     stores a layer's new keys and values
//   KeyShift         rotates stored keys again when a gap before them closes (positions=shifted)
//   QueryAttention   one query over what it sees
//   ChunkAttention   all queries of a chunk at once, where that gives the same bits
//   PageAttention    queries that select pages (visibility=top-pages)
//
// The units of a layer are divided among threads, of which each has such classes of its own
// (UnitAttention), and so have layers that rotate unlike each other. A layer with a window
// attends to the newest of what is visible: positions within the window where positions are those
// of the stream, and ranks where they are ranks, because distances between ranks are then what the
// model was trained to meet. Policies and observers receive 0 for the others.
//
// This class puts them in order: what a query meets is stored and rotated before it attends, and
// its attention is shown to the policy after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/threads/team.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/model_unit.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {

class UnitAttention;
struct UnitQuery;

struct AttentionOptions {
  std::uint64_t seed = 1;  // of policies that draw; keyed as in a replay
  KvFormat storage{};
  KeyStorage keys = KeyStorage::rotated;
  std::size_t length = 0;  // rotations are those of a text of so many tokens (rope_frequencies)
  std::optional<std::size_t> only_layer{};  // the others have no units
};

class CachedAttention {
 public:
  // The same spec and seed keep the same residents as in a replay. `team` outlives the object;
  // results do not depend on it.
  CachedAttention(const ModelConfig& config,
                  const Spec& spec,
                  const AttentionOptions& options,
                  Team& team);

  // A copy that reads on by itself. Requires that read.end_chunk() was called. `read` outlives it.
  CachedAttention(const CachedAttention& read);

  // A copy that reads one chunk more, with all rows of `read` visible, and gathers what its queries
  // pay to `rows`. Requires that read.end_queries() was called, that nothing was evicted yet and
  // that the first trim is the only one. `read` outlives it.
  CachedAttention(const CachedAttention& read, const RepeatedRows& rows);

  CachedAttention& operator=(const CachedAttention&) = delete;
  ~CachedAttention();

  // A chunk begins in every unit. `classes` are its tokens'; empty if the policy does not ask.
  void begin_chunk(std::size_t tokens, std::span<const TokenClass> classes = {});

  // Stores the layer's new keys and values and attends: out [tokens, heads * head_dim]. Layers come
  // in order, each once per chunk.
  void run_layer(const LayerVectors& vectors, float* out, AttentionObserver* observer);

  // Stores the layer's new keys and values without attending: as after run_layer for the queries
  // that follow. Requires a policy that looks at nothing.
  void store_layer(const LayerVectors& vectors);

  // Puts new vectors in place of the residents that came before the chunk under way, the layer's of
  // a pass over just these: `tokens` is their number, in stream order.
  void replace(const LayerVectors& vectors);

  // The last query of the chunk has been asked in every layer, and policies learn what is left to
  // learn of the chunk. end_chunk() does it if it was not done.
  void end_queries();

  // The chunk ends in every unit: caches trim.
  void end_chunk();

  // Takes what such a copy gathered; the next one adds to it.
  void take_shares(CachedAttention& pass);

  // Shows every unit's policy the largest shares of all copies.
  void show_shares();

  [[nodiscard]] const std::vector<ModelUnit>& units() const { return units_; }

  [[nodiscard]] Position seen() const { return units_.front().cache.seen(); }

  // The rank that a query of the chunk under way has among what it sees, in the first unit.
  [[nodiscard]] Position rank_of(Position query) const;

  // Bytes of keys and values held, and of the bounds of their pages.
  [[nodiscard]] std::size_t bytes() const;

 private:
  CachedAttention(const CachedAttention& read, std::vector<ModelUnit> units);

  [[nodiscard]] bool sees_all_before() const;
  [[nodiscard]] bool attends_at_once(const ModelUnit& unit,
                                     std::size_t layer,
                                     const AttentionObserver* observer) const;
  [[nodiscard]] std::span<ModelUnit> units_of(std::size_t layer);
  [[nodiscard]] std::size_t cost_of(std::span<const ModelUnit> units) const;
  template <typename Step>
  void for_each_pool(const Step& step);
  void decide_for_next_query(std::size_t layer);
  void gather_vectors(ModelUnit& unit, const LayerVectors& vectors) const;
  Visible view(ModelUnit& unit, const UnitQuery& query);
  void attend_one_by_one(const LayerVectors& vectors, float* out, AttentionObserver* observer);
  void attend_query(UnitAttention& worker,
                    ModelUnit& unit,
                    const LayerVectors& vectors,
                    const UnitQuery& query,
                    AttentionObserver* observer);
  void attend_chunk(UnitAttention& worker,
                    ModelUnit& unit,
                    const LayerVectors& vectors,
                    float* out);

  const ModelConfig& config_;
  Spec spec_;
  AttentionOptions options_;
  bool ranks_;  // whether queries and keys meet at their ranks
  Team& team_;
  std::vector<UnitAttention> workers_;  // one per thread of the team
  std::size_t chunk_ = 0;               // tokens of the chunk under way
  bool asked_ = true;                   // whether end_queries() was called in it
  std::vector<TokenClass> classes_;
  std::vector<ModelUnit> units_;
  std::vector<BudgetPool> pools_;  // of the units' caches
};

}  // namespace kv::model

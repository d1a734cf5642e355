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
// Layers that rotate unlike each other have such classes of their own. A layer with a window
// attends to the newest of what is visible: positions within the window where positions are those
// of the stream, and ranks where they are ranks, because distances between ranks are then what the
// model was trained to meet. Policies and observers receive 0 for the others.
//
// This class puts them in order: what a query meets is stored and rotated before it attends, and
// its attention is shown to the policy after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/token_class.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/model_unit.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {

struct LayerAttention;  // the classes named above (model/attention/layer_attention.h)

class CachedAttention {
 public:
  // Draws are keyed as in a replay: the same spec and seed keep the same residents. Rotations are
  // those of a text of `length` tokens (rope_frequencies).
  CachedAttention(const ModelConfig& config,
                  const Spec& spec,
                  std::uint64_t seed,
                  const KvFormat& storage,
                  KeyStorage keys,
                  std::size_t length = 0);

  CachedAttention(const CachedAttention&) = delete;
  CachedAttention& operator=(const CachedAttention&) = delete;
  ~CachedAttention();

  // A chunk begins in every unit. `classes` are its tokens'; empty if the policy does not ask.
  void begin_chunk(std::size_t tokens, std::span<const TokenClass> classes = {});

  // Stores the layer's new keys and values and attends: out [tokens, heads * head_dim]. Layers come
  // in order, each once per chunk.
  void run_layer(const LayerVectors& vectors, float* out, AttentionObserver* observer);

  // Puts new vectors in place of the residents that came before the chunk under way, the layer's of
  // a pass over just these: `tokens` is their number, in stream order.
  void replace(const LayerVectors& vectors);

  // The chunk ends in every unit: policies learn, caches trim.
  void end_chunk();

  [[nodiscard]] const std::vector<ModelUnit>& units() const { return units_; }

  [[nodiscard]] Position seen() const { return units_.front().cache.seen(); }

  // The rank that a query of the chunk under way has among what it sees, in the first unit.
  [[nodiscard]] Position rank_of(Position query) const;

  // Bytes of keys and values held, and of the bounds of their pages.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Query;  // one query of the chunk under way, in one layer

  [[nodiscard]] bool sees_all_before() const;
  [[nodiscard]] bool attends_at_once(const ModelUnit& unit,
                                     std::size_t layer,
                                     const AttentionObserver* observer) const;
  [[nodiscard]] LayerAttention& parts_of(std::size_t layer) const;
  void decide_for_next_query(std::size_t layer);
  void gather_vectors(ModelUnit& unit, const LayerVectors& vectors) const;
  Visible view(ModelUnit& unit, const Query& query);
  void bring_up_to_date(KvHeadGroup& group, Position query, const Visible& visible);
  void show_mass(ModelUnit& unit,
                 const KvHeadGroup& group,
                 const Visible& visible,
                 const Query& query,
                 std::span<const float> mass,
                 AttentionObserver* observer);
  void attend_query(ModelUnit& unit, const Query& query, AttentionObserver* observer);
  void attend_visible(ModelUnit& unit,
                      const Visible& visible,
                      const Query& query,
                      AttentionObserver* observer);
  void attend_chunk(ModelUnit& unit, const LayerVectors& vectors, float* out);

  const ModelConfig& config_;
  Spec spec_;
  bool ranks_;  // whether queries and keys meet at their ranks
  // By LayerRotation; null where no layer rotates so.
  std::array<std::unique_ptr<LayerAttention>, 3> parts_;
  std::size_t chunk_ = 0;  // tokens of the chunk under way
  std::vector<TokenClass> classes_;
  std::vector<ModelUnit> units_;
  std::vector<BudgetPool> pools_;  // of the units' caches
  std::vector<Slot> slots_;        // scratch: of what is visible, by rank
  std::vector<float> row_;         // scratch: a head's attention to what is visible
};

}  // namespace kv::model

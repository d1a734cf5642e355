// Attention over policed caches: the simulator's UnitCache says who is resident, visible and at
// which position; here are only the vectors, in the slots that it names.
//
// Keys are stored as they were rotated at their position in the stream, or before rotation. With
// in-cache positions, rotated keys are never touched: a resident's rank minus its position is
// constant over a run of residents, so the query is turned once per run instead (as the replay
// does). Raw keys are turned at every read, which costs a copy of all visible keys per query.
// With visibility=top-pages each query head attends to the pages that it chooses among the keys of
// its kv-head, as they are stored (sim/cache/page_selection.h); nothing is evicted.
// With positions=shifted, keys stand at their rank: they are turned in place whenever a gap before
// them closes, and rounded each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kvcheck/model/attention/key_storage.h"
#include "kvcheck/model/attention/kv_store.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/attention/rotate_stored_keys.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/cache/cache_group.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/rope_rotation.h"
#include "kvcheck/sim/cache/token_vectors.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/replay/cell_state.h"

namespace kv::model {

// Query heads of one unit that read the same kv-head.
struct HeadGroup {
  std::size_t layer = 0;
  std::size_t kv_head = 0;
  std::size_t first_head = 0;
  std::size_t heads = 0;
  KvStore store;
  std::vector<Position> places{};     // slot -> the rank that its key is rotated for
  std::optional<PageChoice> pages{};  // where its queries choose
};

// Query heads that attend to the same rows of one store.
struct Readers {
  const KvStore& store;
  std::size_t first_head = 0;
  std::size_t heads = 0;
};

// One unit: its cache, and the vectors of its residents.
struct ModelUnit {
  std::size_t layer = 0;  // of its first head
  std::size_t head = 0;
  std::size_t heads = 0;  // query heads that share it
  bool spans_layers = false;
  std::vector<HeadGroup> groups;  // by layer, then kv-head
  UnitCache cache;
  // What observe() waits for, one per query of the chunk; as far as the policy asks for it.
  std::vector<std::vector<float>> rows;
  std::vector<TokenVectors> vectors{};
  Visible once{};  // of a unit that spans layers and sees windows
};

// What one layer's attention computes with.
struct LayerVectors {
  std::size_t layer = 0;
  std::size_t tokens = 0;
  const float* q = nullptr;  // [tokens, heads * head_dim], before rotation
  const float* k = nullptr;  // [tokens, kv_heads * head_dim], before rotation
  const float* v = nullptr;  // [tokens, kv_heads * head_dim]
};

// Sees what attention does, for recording and for tests.
class AttentionObserver {
 public:
  AttentionObserver() = default;
  AttentionObserver(const AttentionObserver&) = delete;
  AttentionObserver& operator=(const AttentionObserver&) = delete;
  virtual ~AttentionObserver() = default;

  // The layer's vectors of a chunk that begins at `first`.
  virtual void on_vectors(Position /*first*/, const LayerVectors& /*vectors*/) {}

  // One query's row over what it saw, by rank.
  virtual void on_row(std::size_t /*layer*/,
                      std::size_t /*head*/,
                      Position /*query*/,
                      const Visible& /*visible*/,
                      std::span<const float> /*mass*/) {}
};

class CachedAttention {
 public:
  // Draws are keyed as in a replay: the same spec and seed keep the same residents.
  CachedAttention(const ModelConfig& config,
                  const Spec& spec,
                  std::uint64_t seed,
                  const KvFormat& storage,
                  KeyStorage keys);

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
  struct Query {
    const float* q = nullptr;  // the token's, all heads
    std::size_t index = 0;     // in the chunk
    Position position = 0;
    float* out = nullptr;
  };

  void decide_for_next_query(std::size_t layer);
  void store(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank);
  void keep_vectors(ModelUnit& unit, const LayerVectors& vectors) const;
  void add_to_pages(HeadGroup& group, Slot slot, Position place);
  void observe(ModelUnit& unit, std::size_t query);
  Visible view(ModelUnit& unit, const Query& query, std::size_t layer);
  void attend(ModelUnit& unit, std::size_t layer, const Query& query, AttentionObserver* observer);
  void attend_pages(ModelUnit& unit, const Query& query, AttentionObserver* observer);
  [[nodiscard]] bool at_once(const ModelUnit& unit, const AttentionObserver* observer) const;
  void attend_chunk(ModelUnit& unit, const LayerVectors& vectors, float* out);
  void attend_tokens(const HeadGroup& group,
                     const LayerVectors& vectors,
                     std::size_t first,
                     std::size_t tokens,
                     float* out);
  void attend_rows(const Readers& readers,
                   const Visible& visible,
                   const Query& query,
                   bool shows_rows);
  void widen(const KvStore& store);
  [[nodiscard]] SlotRows keys_of(const KvStore& store) const;
  [[nodiscard]] SlotRows values_of(const KvStore& store) const;
  void find_runs(const Visible& visible, Position query);
  void turn_queries(const Readers& readers, const Visible& visible, const Query& query);
  void weigh_values(const Readers& readers, std::size_t n, float* out);
  void raw_logits(const Readers& readers, const Visible& visible, const Query& query);

  void rotate_queries(const Readers& readers, const Query& query, Position rotate, float* out);

  const ModelConfig& config_;
  Spec spec_;
  KeyStorage keys_;
  bool at_ranks_;  // stored keys are rotated for their rank
  RopeCache rope_;
  KeyShift shift_;
  RopeRotation rotation_;  // what policies are told
  std::size_t chunk_ = 0;  // tokens of the chunk under way
  std::vector<TokenClass> classes_;
  std::vector<ModelUnit> units_;
  std::vector<CacheGroup> groups_;  // of the units' caches
  std::vector<Slot> slots_;
  std::vector<Slot> identity_;
  std::vector<float> mass_;     // [heads of a group, visible]: logits, then rows
  std::vector<float> queries_;  // [runs, heads of a group, head_dim]
  std::vector<QueryRun> runs_;
  std::vector<Position> rotations_;  // of the runs' queries
  std::vector<std::size_t> limits_;
  std::vector<float> outs_;       // of several tokens
  std::vector<float> state_;      // attend's scratch
  std::vector<float> rotated_;    // [visible, head_dim]
  std::vector<float> wide_keys_;  // [visible, head_dim], of a store that kernels do not read
  std::vector<float> wide_values_;
};

// What a replay would know of a trace recorded from this model; tokens and names are left open.
TraceInfo describe_model(const ModelConfig& config);

}  // namespace kv::model

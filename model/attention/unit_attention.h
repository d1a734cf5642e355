// What one thread does with one unit in one layer: it stores new vectors and attends. Threads that
// divide the units of a layer have one such object each, as its classes have scratch of their own.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/token_class.h"
#include "kvcheck/model/attention/attention_observer.h"
#include "kvcheck/model/attention/layer_attention.h"
#include "kvcheck/model/attention/model_unit.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {

// One query of the chunk under way, in one layer.
struct UnitQuery {
  std::size_t layer = 0;
  std::size_t index = 0;  // in the chunk
  TokenQuery token;
};

class UnitAttention {
 public:
  // As CachedAttention.
  UnitAttention(const ModelConfig& config, const Spec& spec, KeyStorage keys, std::size_t length);

  [[nodiscard]] LayerAttention& parts_of(std::size_t layer) const;

  // The vectors are those of the unit's residents from `first_rank` on.
  void write(ModelUnit& unit, const LayerVectors& vectors, std::size_t first_rank);

  // The unit's heads attend to `visible`, and its policy learns what it asks for. `classes` are
  // those of the chunk's tokens.
  void attend(ModelUnit& unit,
              const Visible& visible,
              const UnitQuery& query,
              std::span<const TokenClass> classes,
              AttentionObserver* observer);

  // All queries of the chunk at once; `visible` is what the last of them sees, at position `last`.
  void attend_chunk(ModelUnit& unit,
                    const Visible& visible,
                    const LayerVectors& vectors,
                    Position last,
                    float* out);

 private:
  void attend_visible(ModelUnit& unit,
                      const Visible& visible,
                      const UnitQuery& query,
                      AttentionObserver* observer);
  void bring_up_to_date(KvHeadGroup& group, Position query, const Visible& visible);
  void show_mass(ModelUnit& unit,
                 const KvHeadGroup& group,
                 const Visible& visible,
                 const UnitQuery& query,
                 std::span<const float> mass,
                 AttentionObserver* observer);

  const ModelConfig* config_;
  bool ranks_;  // whether queries and keys meet at their ranks
  // By LayerRotation; null where no layer rotates so.
  std::array<std::unique_ptr<LayerAttention>, 3> parts_;
  std::vector<Slot> slots_;  // scratch: of what is visible, by rank
  std::vector<float> row_;   // scratch: a head's attention to what is visible
};

}  // namespace kv::model

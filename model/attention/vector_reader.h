// Keys and values of one kv-head in the form that kernels read: as they are stored where kernels
// know the format, else widened to f32 in scratch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/model/storage/kv_store.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv::model {

struct KeysAndValues {
  SlotRows keys;
  SlotRows values;
};

// What it returns holds until the next call, and while the slots hold.
class VectorReader {
 public:
  // `rope` outlives it.
  VectorReader(RopeCache& rope, std::size_t head_dim);

  // Keys as they are stored.
  KeysAndValues read(const KvStore& store, std::span<const Slot> slots);

  // The same, but codes are widened too.
  KeysAndValues read_numbers(const KvStore& store, std::span<const Slot> slots);

  // Keys that are stored raw: rotated for their ranks among what is visible, or for their
  // positions. Cost: a copy and a rotation of every visible key.
  KeysAndValues read_raw(const KvStore& store,
                         std::span<const Slot> slots,
                         const Visible& visible,
                         bool ranks);

 private:
  KeysAndValues widened(const KvStore& store, std::span<const Slot> slots);
  SlotRows widened_values(const KvStore& store, std::span<const Slot> slots);
  [[nodiscard]] SlotRows rows_of(const std::vector<float>& wide, std::size_t count);

  RopeCache& rope_;
  std::size_t dim_;
  std::vector<float> key_;     // [head_dim]
  std::vector<float> keys_;    // [visible, head_dim]
  std::vector<float> values_;  // [visible, head_dim]
  std::vector<Slot> identity_;
};

}  // namespace kv::model

// The vectors of one kv-head's residents, each in the slot that the cache gave it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/kernels.h"
#include "model/model_kernels.h"
#include "model/turn_kernels.h"
#include "sim/slots.h"

namespace kv {

class KvStore {
 public:
  KvStore(Storage storage, std::size_t dim) : storage_(storage), dim_(dim) {}

  // Makes room for slots below `slots`.
  void reserve(std::size_t slots);

  // Rounds both vectors [dim] to the store's numbers: int8 to the nearest of 255 steps from minus
  // to plus the largest, so by at most half a step each. Requires room for the slot.
  void put(Slot slot, const float* key, const float* value);

  [[nodiscard]] SlotRows keys(const std::vector<Slot>& slots) const {
    return {storage_, keys_.data(), dim_, slots.data(), slots.size(), key_scales_.data()};
  }

  [[nodiscard]] SlotRows values(const std::vector<Slot>& slots) const {
    return {storage_, values_.data(), dim_, slots.data(), slots.size(), value_scales_.data()};
  }

  // The keys in those slots, to be turned in place, unless they are int8: layout and pairs are left
  // open.
  [[nodiscard]] TurnedRows turned_keys(std::span<const Slot> slots) {
    return {.rows = keys_.data(), .dim = dim_, .slots = slots.data(), .count = slots.size()};
  }

  [[nodiscard]] Storage storage() const { return storage_; }

  [[nodiscard]] std::size_t dim() const { return dim_; }

  // The key or the value in a slot, widened to [dim].
  void key(Slot slot, float* out) const;
  void value(Slot slot, float* out) const;

  // Rounds a key again.
  void put_key(Slot slot, const float* key);

  // Bytes held, room that is not used yet included.
  [[nodiscard]] std::size_t bytes() const {
    const std::size_t scales = key_scales_.capacity() + value_scales_.capacity();
    return keys_.capacity() + values_.capacity() + scales * sizeof(float);
  }

 private:
  [[nodiscard]] std::size_t row_bytes() const { return dim_ * bytes_of(storage_); }

  Storage storage_;
  std::size_t dim_;
  std::vector<std::byte> keys_;
  std::vector<std::byte> values_;
  std::vector<float> key_scales_;  // by slot; of int8 only
  std::vector<float> value_scales_;
};

}  // namespace kv

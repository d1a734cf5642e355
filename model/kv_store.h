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
  KvStore(Number number, std::size_t dim) : number_(number), dim_(dim) {}

  // Makes room for slots below `slots`.
  void reserve(std::size_t slots);

  // Rounds both vectors [dim] to the store's numbers. Requires room for the slot.
  void put(Slot slot, const float* key, const float* value);

  [[nodiscard]] SlotRows keys(const std::vector<Slot>& slots) const {
    return {number_, keys_.data(), dim_, slots.data(), slots.size()};
  }

  [[nodiscard]] SlotRows values(const std::vector<Slot>& slots) const {
    return {number_, values_.data(), dim_, slots.data(), slots.size()};
  }

  // The keys in those slots, to be turned in place: layout and pairs are left open.
  [[nodiscard]] TurnedRows turned_keys(std::span<const Slot> slots) {
    return {.rows = keys_.data(), .dim = dim_, .slots = slots.data(), .count = slots.size()};
  }

  [[nodiscard]] Number number() const { return number_; }

  // The key in a slot, widened to [dim].
  void key(Slot slot, float* out) const;

  // Bytes held, room that is not used yet included.
  [[nodiscard]] std::size_t bytes() const { return keys_.capacity() + values_.capacity(); }

 private:
  [[nodiscard]] std::size_t row_bytes() const { return dim_ * (number_ == Number::f32 ? 4U : 2U); }

  void write(const float* values, std::byte* row) const;

  Number number_;
  std::size_t dim_;
  std::vector<std::byte> keys_;
  std::vector<std::byte> values_;
};

}  // namespace kv

#include "model/kv_store.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/half.h"

namespace kv {

void KvStore::reserve(std::size_t slots) {
  const std::size_t bytes = slots * row_bytes();
  if (bytes <= keys_.size()) return;
  // Exactly what a constant cache needs, and by halves more while it grows.
  const std::size_t grown = keys_.empty() ? bytes : std::max(bytes, keys_.size() * 3 / 2);
  const std::size_t whole = (grown + row_bytes() - 1) / row_bytes() * row_bytes();
  keys_.resize(whole);
  values_.resize(whole);
}

void KvStore::put(Slot slot, const float* key, const float* value) {
  const std::size_t at = slot * row_bytes();
  KV_CHECK(at + row_bytes() <= keys_.size());
  write(key, keys_.data() + at);
  write(value, values_.data() + at);
}

void KvStore::key(Slot slot, float* out) const {
  kernels().widen(number_, keys_.data() + slot * row_bytes(), dim_, out);
}

void KvStore::write(const float* values, std::byte* row) const {
  if (number_ == Number::f32) {
    std::memcpy(row, values, row_bytes());
    return;
  }
  for (std::size_t i = 0; i < dim_; ++i) {
    const std::uint16_t half =
        number_ == Number::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
    std::memcpy(row + 2 * i, &half, sizeof half);
  }
}

}  // namespace kv

#include "model/kv_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/half.h"

namespace kv {
namespace {

void write_halves(std::span<const float> values, Storage storage, std::byte* row) {
  for (const float value : values) {
    const std::uint16_t half = storage == Storage::f16 ? f32_to_f16(value) : f32_to_bf16(value);
    std::memcpy(row, &half, sizeof half);
    row += sizeof half;
  }
}

// Returns the scale.
float write_int8(std::span<const float> values, std::byte* row) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  const float scale = most / 127;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float steps = scale > 0 ? std::nearbyint(values[i] / scale) : 0;
    row[i] = static_cast<std::byte>(static_cast<std::int8_t>(std::clamp(steps, -127.0F, 127.0F)));
  }
  return scale;
}

void write(std::span<const float> values, Storage storage, std::byte* row, float* scale) {
  switch (storage) {
    case Storage::f32:
      std::memcpy(row, values.data(), values.size_bytes());
      return;
    case Storage::f16:
    case Storage::bf16:
      write_halves(values, storage, row);
      return;
    case Storage::int8:
      *scale = write_int8(values, row);
      return;
  }
}

void read(const std::byte* row, Storage storage, const float* scale, std::span<float> out) {
  if (storage != Storage::int8) {
    kernels().widen(static_cast<Number>(storage), row, out.size(), out.data());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<std::int8_t>(row[i])) * *scale;
  }
}

}  // namespace

void KvStore::reserve(std::size_t slots) {
  const std::size_t bytes = slots * row_bytes();
  if (bytes <= keys_.size()) return;
  // Exactly what a constant cache needs, and by halves more while it grows.
  const std::size_t grown = keys_.empty() ? bytes : std::max(bytes, keys_.size() * 3 / 2);
  const std::size_t rows = (grown + row_bytes() - 1) / row_bytes();
  keys_.resize(rows * row_bytes());
  values_.resize(rows * row_bytes());
  if (storage_ != Storage::int8) return;
  key_scales_.resize(rows);
  value_scales_.resize(rows);
}

void KvStore::put(Slot slot, const float* key, const float* value) {
  put_key(slot, key);
  write({value, dim_}, storage_, values_.data() + slot * row_bytes(), value_scales_.data() + slot);
}

void KvStore::put_key(Slot slot, const float* key) {
  KV_CHECK((slot + 1) * row_bytes() <= keys_.size());
  write({key, dim_}, storage_, keys_.data() + slot * row_bytes(), key_scales_.data() + slot);
}

void KvStore::key(Slot slot, float* out) const {
  read(keys_.data() + slot * row_bytes(), storage_, key_scales_.data() + slot, {out, dim_});
}

void KvStore::value(Slot slot, float* out) const {
  read(values_.data() + slot * row_bytes(), storage_, value_scales_.data() + slot, {out, dim_});
}

}  // namespace kv

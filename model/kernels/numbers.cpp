#include "kvcheck/model/kernels/numbers.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"

namespace kv::model {

void write_numbers(std::span<const float> values, Storage storage, std::byte* row) {
  // int8 has a scale beside the row (KvStore).
  KV_CHECK(storage != Storage::int8);
  if (storage == Storage::f32) {
    std::memcpy(row, values.data(), values.size_bytes());
    return;
  }
  for (const float value : values) {
    const std::uint16_t half = storage == Storage::f16 ? f32_to_f16(value) : f32_to_bf16(value);
    std::memcpy(row, &half, sizeof half);
    row += sizeof half;
  }
}

void read_numbers(const std::byte* row, Storage storage, std::span<float> out) {
  kernels().widen(static_cast<Number>(storage), row, out.size(), out.data());
}

void cap_logits(double cap, std::span<float> logits) {
  if (cap == 0) return;
  for (float& logit : logits) {
    logit = static_cast<float>(cap * std::tanh(static_cast<double>(logit) / cap));
  }
}

}  // namespace kv::model

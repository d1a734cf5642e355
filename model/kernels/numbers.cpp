#include "kvcheck/model/kernels/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kvcheck/base/check.h"

namespace kv::model {

void write_numbers(std::span<const float> values, Storage storage, std::byte* row) {
  // int8 has a scale beside the row (KvStore).
  KV_CHECK(storage != Storage::int8);
  kernels().narrow(static_cast<Number>(storage), values.data(), values.size(), row);
}

namespace {

// Whether all bits of some number's exponent are set, four numbers of 16 bits at a time: adding the
// exponent's lowest bit then carries into the place of the sign, and nowhere else.
bool some_not_finite(const std::byte* row, std::size_t n, std::uint64_t exponent) {
  const std::uint64_t lowest = exponent & (~exponent << 1U);
  std::uint64_t carries = 0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    std::uint64_t four = 0;
    std::memcpy(&four, row + 2 * i, sizeof four);
    carries |= (four & exponent) + lowest;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, row + 2 * i, 2 * (n - i));
  carries |= (rest & exponent) + lowest;
  return (carries & 0x8000'8000'8000'8000) != 0;
}

}  // namespace

std::optional<float> too_large_for(std::span<const float> values,
                                   Storage storage,
                                   const std::byte* row) {
  if (storage == Storage::f32) return {};
  const bool is_f16 = storage == Storage::f16;
  if (!some_not_finite(row, values.size(),
                       is_f16 ? 0x7C00'7C00'7C00'7C00 : 0x7F80'7F80'7F80'7F80)) {
    return {};
  }
  // The halfway points to the next power of two, which round to infinity.
  const float least = is_f16 ? 65520.0F : 0x1.FFp127F;
  const auto found = std::ranges::find_if(
      values, [least](float value) { return std::isfinite(value) && std::abs(value) >= least; });
  return found == values.end() ? std::nullopt : std::optional(*found);
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

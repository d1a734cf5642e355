#include "kvcheck/model/kernels/numbers.h"

#include <cmath>

#include "kvcheck/base/check.h"

namespace kv::model {

void write_numbers(std::span<const float> values, Storage storage, std::byte* row) {
  // int8 has a scale beside the row (KvStore).
  KV_CHECK(storage != Storage::int8);
  kernels().narrow(static_cast<Number>(storage), values.data(), values.size(), row);
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

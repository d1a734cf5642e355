#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/base/kernels/narrow_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/lanes_highway.h"
#include "kvcheck/base/kernels/stores_highway.h"

#include <cstring>

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

template <typename Stored>
void narrow_as(const float* values, std::size_t n, std::byte* bytes) {
  by_sixteen(n, [=](std::size_t i, auto count) KV_INLINE {
    store_as<Stored, Nans::some>(load(values + i, count), bytes + sizeof(Stored) * i, count);
  });
}

void narrow(Number number, const float* values, std::size_t n, std::byte* bytes) {
  if (number == Number::f16) return narrow_as<hwy::float16_t>(values, n, bytes);
  if (number == Number::bf16) return narrow_as<hwy::bfloat16_t>(values, n, bytes);
  if (n > 0) std::memcpy(bytes, values, n * sizeof(float));
}

}  // namespace

void put_narrow(Kernels& table) {
  table.narrow = narrow;
}

}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv {

void put_highway_narrow(Target target, Kernels& table) {
  KV_OF_TARGET(target, put_narrow)(table);
}

}  // namespace kv
#endif

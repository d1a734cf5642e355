#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/model/rotation/rotate_kernels_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/lanes_highway.h"
#include "kvcheck/base/kernels/stores_highway.h"

#include "kvcheck/model/rotation/rotate_kernels_detail.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::model::HWY_NAMESPACE {
namespace {

using namespace kv::HWY_NAMESPACE;

template <typename Stored>
HWY_INLINE std::byte* row_at(const RotatedRows& rows, std::size_t i) {
  return rows.rows + rows.slots[i] * rows.dim * sizeof(Stored);
}

// Sixteen pairs at a time, in all rows, because they rotate by the same angles.
template <typename Stored>
void rotate_halves(const RotatedRows& rows, const float* cosines, const float* sines) {
  by_sixteen(rows.pairs, [&](std::size_t i, auto count) KV_INLINE {
    const Lanes cosine = load(cosines + i, count);
    const Lanes sine = load(sines + i, count);
    for (std::size_t row = 0; row < rows.count; ++row) {
      std::byte* at_x = row_at<Stored>(rows, row) + i * sizeof(Stored);
      std::byte* at_y = at_x + rows.pairs * sizeof(Stored);
      const Lanes x = load<Stored>(at_x, count);
      const Lanes y = load<Stored>(at_y, count);
      store_as<Stored, Nans::none>(subtract(multiply(x, cosine), multiply(y, sine)), at_x, count);
      store_as<Stored, Nans::none>(add(multiply(x, sine), multiply(y, cosine)), at_y, count);
    }
  });
}

// Eight pairs at a time. Each number needs its pair's angle, and an x the negative sine.
template <typename Stored>
void rotate_neighbours(const RotatedRows& rows, const float* cosines, const float* sines) {
  by_sixteen(2 * rows.pairs, [&](std::size_t i, auto count) KV_INLINE {
    float along[16] = {};
    float across[16] = {};
    for (std::size_t k = 0; k < count; ++k) {
      along[k] = cosines[(i + k) / 2];
      across[k] = k % 2 == 0 ? -sines[(i + k) / 2] : sines[(i + k) / 2];
    }
    const Lanes cosine = load(along);
    const Lanes sine = load(across);
    for (std::size_t row = 0; row < rows.count; ++row) {
      std::byte* at = row_at<Stored>(rows, row) + i * sizeof(Stored);
      const Lanes pairs = load<Stored>(at, count);
      const Lanes exchanged =
          lanes_of([&](auto p) KV_INLINE { return hn::Shuffle2301(pairs.part[p]); });
      store_as<Stored, Nans::none>(add(multiply(pairs, cosine), multiply(exchanged, sine)), at,
                                   count);
    }
  });
}

template <typename Stored>
void rotate_as(const RotatedRows& rows, const float* cosines, const float* sines) {
  if (rows.layout == RopeLayout::interleaved) {
    rotate_neighbours<Stored>(rows, cosines, sines);
  } else {
    rotate_halves<Stored>(rows, cosines, sines);
  }
}

void rotate(Number number, const RotatedRows& rows, const float* cosines, const float* sines) {
  if (number == Number::f32) {
    rotate_as<float>(rows, cosines, sines);
  } else if (number == Number::f16) {
    rotate_as<hwy::float16_t>(rows, cosines, sines);
  } else {
    rotate_as<hwy::bfloat16_t>(rows, cosines, sines);
  }
}

}  // namespace

void put_rotate(RotateKernels& table) {
  table.rotate = rotate;
}

}  // namespace kv::model::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv::model {

void put_highway_rotate(Target target, RotateKernels& table) {
  KV_OF_TARGET(target, put_rotate)(table);
}

}  // namespace kv::model
#endif

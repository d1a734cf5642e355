#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/model/kernels/quantised_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/lanes_highway.h"
#include "kvcheck/base/kernels/products_highway.h"

#include <array>
#include <bit>

#include "kvcheck/model/kernels/block_codes.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::model::HWY_NAMESPACE {
namespace {

using namespace kv::HWY_NAMESPACE;

// How many sums of sixteen lanes stay in registers.
constexpr std::size_t sums_at_once = HWY_TARGET == HWY_SSE4 ? 2 : 4;

struct Int8Row {
  static constexpr Quantisation kind = Quantisation::int8;
  const std::byte* codes;
  const float* scales;

  // Weights i to i + 15, of which `count` are there.
  template <typename Count>
  [[nodiscard]] HWY_INLINE Lanes weights(std::size_t i, Count count) const {
    return load<std::int8_t>(codes + i, count);
  }
};

using Bytes = hn::Simd<std::uint8_t, 16, 0>;

// Byte k of each of the sixteen levels.
template <std::size_t k>
constexpr std::array<std::uint8_t, 16> level_bytes = [] {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(nf4_levels[i]) >> (8 * k));
  }
  return bytes;
}();

// The levels of sixteen codes: a look-up of sixteen bytes for each byte of a float, which are then
// put side by side.
HWY_INLINE Lanes levels_of(hn::Vec<Bytes> codes) {
  const Bytes bytes;
  const hn::Repartition<std::uint16_t, Bytes> pairs;
  const hn::Repartition<float, Bytes> floats;
  const auto look_up = [&](auto k) KV_INLINE {
    return hn::TableLookupBytes(hn::LoadU(bytes, level_bytes<k>.data()), codes);
  };
  const auto byte0 = look_up(std::integral_constant<std::size_t, 0>());
  const auto byte1 = look_up(std::integral_constant<std::size_t, 1>());
  const auto byte2 = look_up(std::integral_constant<std::size_t, 2>());
  const auto byte3 = look_up(std::integral_constant<std::size_t, 3>());
  // Four levels, from those of the codes 4 q on.
  const auto quad = [&](auto q) KV_INLINE {
    const bool upper = q >= 2;
    const auto low = hn::BitCast(pairs, upper ? hn::InterleaveUpper(bytes, byte0, byte1)
                                              : hn::InterleaveLower(bytes, byte0, byte1));
    const auto high = hn::BitCast(pairs, upper ? hn::InterleaveUpper(bytes, byte2, byte3)
                                               : hn::InterleaveLower(bytes, byte2, byte3));
    return hn::BitCast(floats, q % 2 == 0 ? hn::InterleaveLower(pairs, low, high)
                                          : hn::InterleaveUpper(pairs, low, high));
  };
  return lanes_of([&](auto p) KV_INLINE {
    if constexpr (parts == 4) {
      return quad(p);
    } else {
      return hn::Combine(Floats(), quad(std::integral_constant<std::size_t, 2 * p + 1>()),
                         quad(std::integral_constant<std::size_t, 2 * p>()));
    }
  });
}

struct Nf4Row {
  static constexpr Quantisation kind = Quantisation::nf4;
  const std::byte* codes;
  const float* scales;

  // Eight bytes are sixteen codes, each low half before the high one.
  [[nodiscard]] HWY_INLINE Lanes weights(std::size_t i, Sixteen /*count*/) const {
    const hn::Half<Bytes> half;
    const auto* at = reinterpret_cast<const std::uint8_t*>(codes) + i / 2;
    return scaled(i, hn::ZeroExtendVector(Bytes(), hn::LoadU(half, at)));
  }

  [[nodiscard]] HWY_INLINE Lanes weights(std::size_t i, std::size_t count) const {
    alignas(16) std::uint8_t some[16] = {};
    std::memcpy(some, codes + i / 2, (count + 1) / 2);
    // The codes beyond the end are 0, of which the level is not.
    alignas(64) float numbers[16];
    store(scaled(i, hn::Load(Bytes(), some)), numbers);
    return load(numbers, count);
  }

 private:
  [[nodiscard]] HWY_INLINE Lanes scaled(std::size_t i, hn::Vec<Bytes> both) const {
    const Bytes bytes;
    const auto low = hn::And(both, hn::Set(bytes, 15));
    const hn::Repartition<std::uint16_t, Bytes> pairs;
    const auto high = hn::And(hn::BitCast(bytes, hn::ShiftRight<4>(hn::BitCast(pairs, both))),
                              hn::Set(bytes, 15));
    return multiply(levels_of(hn::InterleaveLower(bytes, low, high)), all(scales[i / nf4_block]));
  }
};

// Formats in blocks; rows are whole blocks, so all sixteen weights are always there.
template <Quantisation format>
struct BlockRow {
  static constexpr Quantisation kind = format;
  static constexpr BlockSize size = block_size(format);
  const std::byte* codes;
  const float* scales;  // none

  template <typename Count>
  [[nodiscard]] HWY_INLINE Lanes weights(std::size_t i, Count /*count*/) const {
    const BlockGroup group =
        group_of<format>(codes + i / size.weights * size.bytes, i % size.weights);
    const auto scale = hn::Set(Floats(), group.scale);
    const auto below = hn::Set(Floats(), group.below);
    return lanes_of([&](auto p) KV_INLINE {
      auto code = hn::Zero(Words());
      if constexpr (format == Quantisation::q8_0) {
        const hn::Rebind<std::int8_t, Floats> tag;
        const auto* low = reinterpret_cast<const std::int8_t*>(group.low) + p * width;
        code = hn::PromoteTo(Words(), hn::LoadU(tag, low));
      } else {
        code = bits_of(group.low + p * width, group.low_shift, 15);
      }
      if constexpr (high_mask<format> != 0) {
        const auto upper = bits_of(group.high + p * width, group.high_shift, high_mask<format>);
        code = hn::Or(code, hn::ShiftLeft<4>(upper));
      }
      code = hn::Sub(code, hn::Set(Words(), zero_code<format>));
      return hn::Sub(hn::Mul(scale, hn::ConvertTo(Floats(), code)), below);
    });
  }

 private:
  HWY_INLINE static hn::Vec<Words> bits_of(const std::byte* from, unsigned shift, int mask) {
    const hn::Rebind<std::uint8_t, Floats> tag;
    const auto wide =
        hn::PromoteTo(Words(), hn::LoadU(tag, reinterpret_cast<const std::uint8_t*>(from)));
    return hn::And(hn::ShiftRightSame(wide, static_cast<int>(shift)), hn::Set(Words(), mask));
  }
};

template <typename Row>
HWY_INLINE Row row_of(const QuantisedRows& weights, std::size_t index) {
  Row row;
  row.codes = weights.codes + index * code_bytes(Row::kind, weights.columns);
  row.scales = weights.scales + index * scales_of_row(Row::kind, weights.columns);
  return row;
}

// A row of int8 has one scale, for its sums.
template <typename Row>
HWY_INLINE float scaled_sum(const QuantisedRows& weights, std::size_t index, float sum) {
  return Row::kind == Quantisation::int8 ? weights.scales[index] * sum : sum;
}

// One token with R rows at a time from `begin` on; each block prefetches the codes of the next one.
// Returns the first row that was left.
template <typename Row, std::size_t R>
std::size_t multiply_one(const QuantisedRows& weights,
                         std::size_t begin,
                         const float* x,
                         float* out) {
  const std::size_t n = weights.columns;
  const std::size_t ahead = R * code_bytes(Row::kind, n);
  for (; begin + R <= weights.rows; begin += R) {
    Row row[R];
    Lanes sums[R];
    each<R>([&](auto r) KV_INLINE {
      row[r] = row_of<Row>(weights, begin + r);
      sums[r] = all(0);
    });
    by_sixteen(n, [&](std::size_t i, auto count) KV_INLINE {
      const Lanes here = load(x + i, count);
      if (const std::size_t at = code_bytes(Row::kind, i); at % 64 == 0) {
        for (std::size_t r = 0; r < R; ++r) hwy::Prefetch(row[r].codes + ahead + at);
      }
      each<R>([&](auto r)
                  KV_INLINE { sums[r] = multiply_add(row[r].weights(i, count), here, sums[r]); });
    });
    each<R>([&](auto r) KV_INLINE {
      out[begin + r] = scaled_sum<Row>(weights, begin + r, add_lanes(sums[r]));
    });
  }
  return begin;
}

template <typename Row>
void multiply_as(const QuantisedRows& weights,
                 const float* x,
                 std::size_t tokens,
                 std::size_t stride,
                 float* out) {
  const std::size_t n = weights.columns;
  if (tokens == 1) {
    multiply_one<Row, 1>(weights, multiply_one<Row, sums_at_once>(weights, 0, x, out), x, out);
    return;
  }
  float* wide = scratch_floats(rows_at_once * n);
  const auto rows_of = [&](std::size_t begin, std::size_t count) KV_INLINE {
    for (std::size_t r = 0; r < count; ++r) {
      const Row row = row_of<Row>(weights, begin + r);
      float* to = wide + r * n;
      by_sixteen(n, [&](std::size_t i, auto live)
                        KV_INLINE { store(row.weights(i, live), to + i, live); });
    }
    return static_cast<const float*>(wide);
  };
  const auto put = [&](std::size_t t, std::size_t r, float sum)
                       KV_INLINE { out[t * stride + r] = scaled_sum<Row>(weights, r, sum); };
  dot_all(weights.rows, rows_of, x, tokens, n, put);
}

void multiply_quantised(const QuantisedRows& weights,
                        const float* x,
                        std::size_t tokens,
                        std::size_t stride,
                        float* out) {
  switch (weights.kind) {
    case Quantisation::int8:
      return multiply_as<Int8Row>(weights, x, tokens, stride, out);
    case Quantisation::nf4:
      return multiply_as<Nf4Row>(weights, x, tokens, stride, out);
    case Quantisation::q8_0:
      return multiply_as<BlockRow<Quantisation::q8_0>>(weights, x, tokens, stride, out);
    case Quantisation::q4_0:
      return multiply_as<BlockRow<Quantisation::q4_0>>(weights, x, tokens, stride, out);
    case Quantisation::q4_k:
      return multiply_as<BlockRow<Quantisation::q4_k>>(weights, x, tokens, stride, out);
    case Quantisation::q5_k:
      return multiply_as<BlockRow<Quantisation::q5_k>>(weights, x, tokens, stride, out);
    case Quantisation::q6_k:
      return multiply_as<BlockRow<Quantisation::q6_k>>(weights, x, tokens, stride, out);
    case Quantisation::none:
      return;
  }
}

}  // namespace

void put_quantised(ModelKernels& table) {
  table.multiply_quantised = multiply_quantised;
}

}  // namespace kv::model::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv::model {

void put_highway_quantised(Target target, ModelKernels& table) {
  KV_OF_TARGET(target, put_quantised)(table);
}

}  // namespace kv::model
#endif

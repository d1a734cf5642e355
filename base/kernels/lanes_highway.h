// Sixteen lanes of floats, the same for every target of Highway: two registers of AVX2, four of
// SSE4 or NEON. Kernels that are written over them give the bits of the scalar and the AVX-512
// ones: element i of a row is in lane i mod 16, and a sum is added up in the fixed tree. A row
// whose length is no multiple of sixteen is padded with zeros.
//
// Only *_highway.cpp may include this header. It is included once per target, hence a guard that
// toggles, and everything in it is internal to the source that includes it.
#if defined(KVCHECK_LANES_HIGHWAY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KVCHECK_LANES_HIGHWAY_H
#undef KVCHECK_LANES_HIGHWAY_H
#else
#define KVCHECK_LANES_HIGHWAY_H
#endif

#include "kvcheck/base/kernels/targets_highway.h"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>
#include <utility>

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Words = hn::Rebind<std::int32_t, Floats>;
using Register = hn::Vec<Floats>;
constexpr std::size_t width = hn::MaxLanes(Floats());
constexpr std::size_t parts = 16 / width;

struct Lanes {
  Register part[parts];

  // Written out, because the constructors that g++ makes are not compiled for the target, and those
  // of NEON's registers cannot be inlined into them.
  HWY_INLINE Lanes() {}

  template <typename... R>
  HWY_INLINE explicit Lanes(Register first, R... others) : part{first, others...} {}
};

// Calls f(0), ..., f(n - 1) without a loop, so that each number is a constant. Arrays of registers
// that are indexed by it are then kept in registers, which a loop does not ensure at -O2.
template <typename F, std::size_t... i>
HWY_INLINE void each_of(std::index_sequence<i...> /*all*/, const F& f) {
  (f(std::integral_constant<std::size_t, i>()), ...);
}

template <std::size_t n, typename F>
HWY_INLINE void each(const F& f) {
  each_of(std::make_index_sequence<n>(), f);
}

// Copies fewer than `size` bytes, a power of two. A call of memcpy, which a variable number makes,
// would save and restore every register that a kernel sums in.
template <std::size_t size>
HWY_INLINE void copy_few(void* to, const void* from, std::size_t bytes) {
  if constexpr (size > 1) {
    constexpr std::size_t half = size / 2;
    if (bytes >= half) {
      std::memcpy(to, from, half);
      to = static_cast<std::byte*>(to) + half;
      from = static_cast<const std::byte*>(from) + half;
      bytes -= half;
    }
    copy_few<half>(to, from, bytes);
  }
}

template <typename F, std::size_t... p>
HWY_INLINE Lanes lanes_of(std::index_sequence<p...> /*all*/, const F& f) {
  return Lanes(f(std::integral_constant<std::size_t, p>())...);
}

// The lanes whose register p is f(p).
template <typename F>
HWY_INLINE Lanes lanes_of(const F& f) {
  return lanes_of(std::make_index_sequence<parts>(), f);
}

HWY_INLINE Lanes all(float x) {
  const Register same = hn::Set(Floats(), x);
  return lanes_of([&](auto) KV_INLINE { return same; });
}

HWY_INLINE Lanes add(const Lanes& a, const Lanes& b) {
  return lanes_of([&](auto p) KV_INLINE { return hn::Add(a.part[p], b.part[p]); });
}

HWY_INLINE Lanes subtract(const Lanes& a, const Lanes& b) {
  return lanes_of([&](auto p) KV_INLINE { return hn::Sub(a.part[p], b.part[p]); });
}

HWY_INLINE Lanes multiply(const Lanes& a, const Lanes& b) {
  return lanes_of([&](auto p) KV_INLINE { return hn::Mul(a.part[p], b.part[p]); });
}

// The larger number of each lane; of 0 and -0, either.
HWY_INLINE Lanes larger(const Lanes& a, const Lanes& b) {
  return lanes_of([&](auto p) KV_INLINE { return hn::Max(a.part[p], b.part[p]); });
}

// How many numbers a load or a store moves: sixteen, which is a type of its own, or fewer.
using Sixteen = std::integral_constant<std::size_t, 16>;

// Calls f(i, Sixteen()) for every whole sixteen of n numbers, then f(i, rest) if a rest is left.
template <typename F>
HWY_INLINE void by_sixteen(std::size_t n, const F& f) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) f(i, Sixteen());
  if (i < n) f(i, n - i);
}

// Stored numbers (float, hwy::float16_t, hwy::bfloat16_t, std::int8_t) as they are loaded: halves
// as their bits.
template <typename Stored>
using Raw = std::conditional_t<sizeof(Stored) == 2, std::uint16_t, Stored>;

template <typename Stored>
using RawTag = hn::Rebind<Raw<Stored>, Floats>;

template <typename Stored>
HWY_INLINE Register widened(hn::Vec<RawTag<Stored>> raw) {
  if constexpr (std::is_same_v<Stored, float>) {
    return raw;
  } else if constexpr (std::is_same_v<Stored, std::int8_t>) {
    return hn::ConvertTo(Floats(), hn::PromoteTo(Words(), raw));
  } else if constexpr (std::is_same_v<Stored, hwy::bfloat16_t>) {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), raw)));
  } else {
#if HWY_TARGET == HWY_SSE4
    // Highway 1.0.3 emulates this without infinities and NaNs here. The product moves the exponent
    // to that of a float, for subnormal numbers too.
    const auto word = hn::PromoteTo(Words(), raw);
    const auto size = hn::And(word, hn::Set(Words(), 0x7FFF));
    const auto value =
        hn::Mul(hn::BitCast(Floats(), hn::ShiftLeft<13>(size)), hn::Set(Floats(), 0x1p112F));
    const auto special = hn::Gt(size, hn::Set(Words(), 0x7BFF));
    const auto exponent = hn::IfThenElseZero(special, hn::Set(Words(), 0x7F800000));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(word, size));
    return hn::BitCast(Floats(), hn::Or(hn::Or(hn::BitCast(Words(), value), exponent), sign));
#else
    return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), raw));
#endif
  }
}

// `count` stored numbers, widened, and zeros in the other lanes. No byte beyond them is read.
template <typename Stored>
HWY_INLINE Lanes load(const std::byte* at, Sixteen /*count*/) {
  return lanes_of([&](auto p) KV_INLINE {
    const auto* here = reinterpret_cast<const Raw<Stored>*>(at) + p * width;
    return widened<Stored>(hn::LoadU(RawTag<Stored>(), here));
  });
}

#if HWY_TARGET == HWY_AVX2
// The first bytes there, eight at most, and zeros.
HWY_INLINE std::uint64_t word_of(const std::byte* at, std::size_t bytes) {
  std::uint64_t word = 0;
  if (bytes >= 8) {
    std::memcpy(&word, at, 8);
  } else if (bytes >= 4) {
    std::uint32_t ends[2];
    std::memcpy(&ends[0], at, 4);
    std::memcpy(&ends[1], at + bytes - 4, 4);
    word = ends[0] | std::uint64_t{ends[1]} << (8 * (bytes - 4));
  } else {
    for (std::size_t i = 0; i < bytes; ++i)
      word |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  }
  return word;
}

// Shorter numbers than floats have no masked load. They come by words, because a register that is
// loaded from bytes just stored waits for them.
template <typename Stored>
HWY_INLINE Lanes load(const std::byte* at, std::size_t count) {
  return lanes_of([&](auto p) KV_INLINE {
    if constexpr (std::is_same_v<Stored, float>) {
      const auto live = hn::FirstN(Floats(), count > p * width ? count - p * width : 0);
      return hn::MaskedLoad(live, Floats(), reinterpret_cast<const float*>(at) + p * width);
    } else {
      const hn::Repartition<std::uint64_t, RawTag<Stored>> words;
      const auto word = [&](std::size_t first) KV_INLINE {
        const std::size_t bytes = count * sizeof(Stored);
        return hn::Set(words, first < bytes ? word_of(at + first, bytes - first) : 0);
      };
      auto bits = word(p * width * sizeof(Stored));
      if constexpr (sizeof(Stored) == 2) {
        bits = hn::InterleaveLower(words, bits, word(p * width * sizeof(Stored) + 8));
      }
      return widened<Stored>(hn::BitCast(RawTag<Stored>(), bits));
    }
  });
}
#else
// hn::MaskedLoad may read beyond the numbers.
template <typename Stored>
HWY_INLINE Lanes load(const std::byte* at, std::size_t count) {
  alignas(16) std::byte some[16 * sizeof(Stored)] = {};
  copy_few<16 * sizeof(Stored)>(some, at, count * sizeof(Stored));
  return load<Stored>(some, Sixteen());
}
#endif

template <typename Count>
HWY_INLINE Lanes load(const float* at, Count count) {
  return load<float>(reinterpret_cast<const std::byte*>(at), count);
}

HWY_INLINE Lanes load(const float* at) {
  return load(at, Sixteen());
}

// Stores the first `count` lanes.
HWY_INLINE void store(const Lanes& lanes, float* at, Sixteen /*count*/) {
  each<parts>([&](auto p) KV_INLINE { hn::StoreU(lanes.part[p], Floats(), at + p * width); });
}

HWY_INLINE void store(const Lanes& lanes, float* at, std::size_t count) {
#if HWY_TARGET == HWY_AVX2
  each<parts>([&](auto p) KV_INLINE {
    const auto live = hn::FirstN(Floats(), count > p * width ? count - p * width : 0);
    hn::BlendedStore(lanes.part[p], live, Floats(), at + p * width);
  });
#else
  float some[16];
  store(lanes, some, Sixteen());
  copy_few<64>(at, some, count * sizeof(float));
#endif
}

HWY_INLINE void store(const Lanes& lanes, float* at) {
  store(lanes, at, Sixteen());
}

// The first step of the tree, 8 + 8, and the second, 4 + 4, whose result fills four lanes.
#if HWY_MAX_BYTES == 16
HWY_INLINE Register four_of(const Lanes& lanes) {
  return hn::Add(hn::Add(lanes.part[0], lanes.part[2]), hn::Add(lanes.part[1], lanes.part[3]));
}
#else
HWY_INLINE hn::Vec<hn::Half<Floats>> four_of(const Lanes& lanes) {
  const hn::Half<Floats> half;
  const Register eight = hn::Add(lanes.part[0], lanes.part[1]);
  return hn::Add(hn::LowerHalf(half, eight), hn::UpperHalf(half, eight));
}
#endif

// Adds the lanes in the fixed tree: 8 + 8, then 4 + 4, 2 + 2 and 1 + 1. hn::SumOfLanes has another
// order on every target.
HWY_INLINE float add_lanes(const Lanes& lanes) {
  const auto four = four_of(lanes);
  const auto two = hn::Add(four, hn::Shuffle1032(four));
  return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
}

// The largest lane. A maximum does not depend on the order, so no tree is needed here.
HWY_INLINE float largest_lane(const Lanes& lanes) {
  Register most = lanes.part[0];
  each<parts>([&](auto p) KV_INLINE { most = hn::Max(most, lanes.part[p]); });
  return hn::GetLane(hn::MaxOfLanes(Floats(), most));
}

// The exponential of base/kernels/kernels.h. A NaN remains one, so that it is not overlooked.
HWY_INLINE Lanes exponential(const Lanes& lanes) {
  return lanes_of([&](auto p) KV_INLINE {
    const auto set = [](float value) KV_INLINE { return hn::Set(Floats(), value); };
    const Register x = lanes.part[p];
    const Register scaled = hn::Add(hn::Mul(x, set(exp_log2e)), set(exp_magic));
    const Register n = hn::Sub(scaled, set(exp_magic));
    const Register rest =
        hn::Sub(hn::Sub(x, hn::Mul(n, set(exp_ln2_high))), hn::Mul(n, set(exp_ln2_low)));
    const auto next = [&](Register sum, float term)
                          KV_INLINE { return hn::Add(hn::Mul(sum, rest), set(term)); };
    const Register high = next(next(next(set(exp_c6), exp_c5), exp_c4), exp_c3);
    const Register sum = next(next(next(high, exp_c2), 1.0F), 1.0F);
    // The low bits of `scaled` are n, and those above them leave by the shift.
    const auto power =
        hn::Add(hn::ShiftLeft<23>(hn::BitCast(Words(), scaled)), hn::Set(Words(), 127 << 23));
    const auto underflows = hn::Lt(x, set(exp_underflow));
    return hn::IfThenZeroElse(underflows, hn::Mul(sum, hn::BitCast(Floats(), power)));
  });
}

}  // namespace
}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES
#endif

// Stored halves of sixteen lanes: what kernels that write numbers need beside lanes_highway.h.
//
// As that header, it is for *_highway.cpp alone and is included once per target.
#if defined(KVCHECK_STORES_HIGHWAY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KVCHECK_STORES_HIGHWAY_H
#undef KVCHECK_STORES_HIGHWAY_H
#else
#define KVCHECK_STORES_HIGHWAY_H
#endif

#include "kvcheck/base/kernels/lanes_highway.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

// Whether there may be a NaN among the numbers to store, which takes some steps more.
enum class Nans { none, some };

// The numbers of one register as halves, with the bits of base/half.h.
template <typename Stored, Nans nans>
HWY_INLINE hn::Vec<RawTag<Stored>> narrowed(Register value) {
  const auto set = [](std::int32_t word) KV_INLINE { return hn::Set(Words(), word); };
  const auto bits = hn::BitCast(Words(), value);
  const auto size = hn::And(bits, set(0x7FFFFFFF));
  const auto or_if_nan = [&](hn::Vec<Words> quiet, hn::Vec<Words> other) KV_INLINE {
    if constexpr (nans == Nans::none) return other;
    return hn::IfThenElse(hn::Gt(size, set(0x7F800000)), quiet, other);
  };
  if constexpr (std::is_same_v<Stored, hwy::bfloat16_t>) {
    const hn::RebindToUnsigned<Words> words;
    const auto upper = hn::BitCast(Words(), hn::ShiftRight<16>(hn::BitCast(words, bits)));
    const auto up = hn::Add(hn::And(upper, set(1)), set(0x7FFF));
    const auto rounded = hn::ShiftRight<16>(hn::BitCast(words, hn::Add(bits, up)));
    return hn::DemoteTo(RawTag<Stored>(),
                        or_if_nan(hn::Or(upper, set(0x40)), hn::BitCast(Words(), rounded)));
  } else {
#if HWY_TARGET == HWY_SSE4
    // As base/half.h does it, because Highway 1.0.3 rounds otherwise here. What is too large is
    // made the least number that rounds to infinity.
    const auto most = hn::Min(size, set(0x477FF000));
    const auto odd = hn::And(hn::ShiftRight<13>(most), set(1));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(most, odd), set(0xFFF - 0x38000000)));
    const auto sum = hn::Add(hn::BitCast(Floats(), most), hn::Set(Floats(), 0.5F));
    const auto subnormal = hn::Sub(hn::BitCast(Words(), sum), set(0x3F000000));
    const auto number = hn::IfThenElse(hn::Lt(size, set(0x38800000)), subnormal, normal);
    const auto sign = hn::And(hn::ShiftRight<16>(bits), set(0x8000));
    return hn::DemoteTo(RawTag<Stored>(), hn::Or(or_if_nan(set(0x7E00), number), sign));
#else
    // The instruction would keep upper bits of a NaN: its sign alone is left.
    const auto plain = or_if_nan(hn::Or(set(0x7FC00000), hn::Xor(bits, size)), bits);
    return hn::BitCast(RawTag<Stored>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, Floats>(),
                                                      hn::BitCast(Floats(), plain)));
#endif
  }
}

// Stores the first `count` lanes as the numbers of `Stored`.
template <typename Stored, Nans nans>
HWY_INLINE void store_as(const Lanes& lanes, std::byte* at, Sixteen /*count*/) {
  auto* numbers = reinterpret_cast<Raw<Stored>*>(at);
  each<parts>([&](auto p) KV_INLINE {
    if constexpr (std::is_same_v<Stored, float>) {
      hn::StoreU(lanes.part[p], Floats(), numbers + p * width);
    } else {
      hn::StoreU(narrowed<Stored, nans>(lanes.part[p]), RawTag<Stored>(), numbers + p * width);
    }
  });
}

template <typename Stored, Nans nans>
HWY_INLINE void store_as(const Lanes& lanes, std::byte* at, std::size_t count) {
  std::byte some[16 * sizeof(Stored)];
  store_as<Stored, nans>(lanes, some, Sixteen());
  copy_few<16 * sizeof(Stored)>(at, some, count * sizeof(Stored));
}

}  // namespace
}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES
#endif

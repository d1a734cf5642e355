// What products need of lanes beside lanes_highway.h: fusion into their sums, and sixteen sums of
// lanes at once.
//
// As that header, it is for *_highway.cpp alone and is included once per target.
#if defined(KVCHECK_FUSED_HIGHWAY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KVCHECK_FUSED_HIGHWAY_H
#undef KVCHECK_FUSED_HIGHWAY_H
#else
#define KVCHECK_FUSED_HIGHWAY_H
#endif

#include "kvcheck/base/kernels/lanes_highway.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

#if HWY_NATIVE_FMA
HWY_INLINE Register fused(Register a, Register b, Register c) {
  return hn::MulAdd(a, b, c);
}
#else
// Two products at a time, exact as doubles. Their sum is rounded to odd: an inexact sum with an
// even last bit moves to its neighbour on the side of what was lost, so that rounding it to a float
// gives what one rounding of the exact sum gives.
//
// Source: Boldo & Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
// using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
using HalfFloats = hn::Half<Floats>;

HWY_INLINE hn::Vec<HalfFloats> fused(hn::Vec<HalfFloats> a,
                                     hn::Vec<HalfFloats> b,
                                     hn::Vec<HalfFloats> c) {
  const hn::Rebind<double, HalfFloats> doubles;
  const hn::Rebind<std::int64_t, HalfFloats> words;
  const auto product = hn::Mul(hn::PromoteTo(doubles, a), hn::PromoteTo(doubles, b));
  const auto term = hn::PromoteTo(doubles, c);
  const auto sum = hn::Add(product, term);
  const auto back = hn::Sub(sum, product);
  const auto lost = hn::Add(hn::Sub(product, hn::Sub(sum, back)), hn::Sub(term, back));
  const auto bits = hn::BitCast(words, sum);
  const auto zero = hn::Zero(doubles);
  // A NaN, lost by an infinite sum, is neither.
  const auto inexact = hn::Or(hn::Lt(lost, zero), hn::Gt(lost, zero));
  const auto step = hn::And(hn::AndNot(bits, hn::Set(words, 1)),
                            hn::VecFromMask(words, hn::RebindMask(words, inexact)));
  const auto towards_zero = hn::ShiftRight<63>(hn::Xor(bits, hn::BitCast(words, lost)));
  const auto odd = hn::Add(bits, hn::Sub(hn::Xor(step, towards_zero), towards_zero));
  return hn::DemoteTo(HalfFloats(), hn::BitCast(doubles, odd));
}

HWY_INLINE Register fused(Register a, Register b, Register c) {
  const HalfFloats half;
  return hn::Combine(Floats(),
                     fused(hn::UpperHalf(half, a), hn::UpperHalf(half, b), hn::UpperHalf(half, c)),
                     fused(hn::LowerHalf(half, a), hn::LowerHalf(half, b), hn::LowerHalf(half, c)));
}
#endif

// a * b + c, rounded once. (Without an instruction for it, hn::MulAdd rounds twice.)
HWY_INLINE Lanes multiply_add(const Lanes& a, const Lanes& b, const Lanes& c) {
  return lanes_of([&](auto p) KV_INLINE { return fused(a.part[p], b.part[p], c.part[p]); });
}

// The steps of the tree for several sums at once: each adds the halves of two registers and leaves
// no lane idle. 2 + 2: u0 + u2, u1 + u3, v0 + v2, v1 + v3.
HWY_INLINE Register add_twos(Register u, Register v) {
  const hn::Repartition<double, Floats> twos;
  const auto a = hn::BitCast(twos, u);
  const auto b = hn::BitCast(twos, v);
  return hn::Add(hn::BitCast(Floats(), hn::InterleaveLower(twos, a, b)),
                 hn::BitCast(Floats(), hn::InterleaveUpper(twos, a, b)));
}

// 1 + 1: u0 + u1, v0 + v1, u2 + u3, v2 + v3.
HWY_INLINE Register add_ones(Register u, Register v) {
  return hn::Add(hn::OddEven(v, u), hn::Shuffle2301(hn::OddEven(u, v)));
}

// The four lanes that are left of sum i after 8 + 8 and 4 + 4; in registers of eight those of sum
// i + 4 follow them.
HWY_INLINE Register fours(const Lanes* sums, std::size_t i) {
#if HWY_MAX_BYTES == 16
  return four_of(sums[i]);
#else
  const Register u = hn::Add(sums[i].part[0], sums[i].part[1]);
  const Register v = hn::Add(sums[i + 4].part[0], sums[i + 4].part[1]);
  return hn::Add(hn::ConcatLowerLower(Floats(), v, u), hn::ConcatUpperUpper(Floats(), v, u));
#endif
}

// Lane i of the result is add_lanes(sums[i]), for sixteen sums.
HWY_INLINE Lanes add_all_lanes(const Lanes* sums) {
  return lanes_of([&](auto p) KV_INLINE {
    const Lanes* here = sums + p * width;
    return add_ones(add_twos(fours(here, 0), fours(here, 2)),
                    add_twos(fours(here, 1), fours(here, 3)));
  });
}

}  // namespace
}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES
#endif

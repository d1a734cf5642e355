// The kernels that work in double for the targets of Highway. What whole registers leave over is
// left to the scalar kernels.
#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/base/kernels/kernels_double_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/lanes_highway.h"

#include <algorithm>
#include <bit>
#include <limits>

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

using Doubles = hn::CappedTag<double, 8>;
using LongWords = hn::Rebind<std::int64_t, Doubles>;
using DoubleRegister = hn::Vec<Doubles>;
constexpr std::size_t at_once = hn::MaxLanes(Doubles());

HWY_INLINE DoubleRegister load_wide(const float* values) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), values));
}

HWY_INLINE DoubleRegister set(double value) {
  return hn::Set(Doubles(), value);
}

// Adds the terms of n numbers to sixteen lanes, then the lanes in the fixed tree. term(i) gives
// those of one register of numbers from i on, scalar_term(i) that of number i.
template <typename Term, typename ScalarTerm>
HWY_INLINE double sum_of(std::size_t n, const Term& term, const ScalarTerm& scalar_term) {
  constexpr std::size_t registers = 16 / at_once;
  DoubleRegister totals[registers];
  each<registers>([&](auto r) KV_INLINE { totals[r] = hn::Zero(Doubles()); });
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    each<registers>([&](auto r)
                        KV_INLINE { totals[r] = hn::Add(totals[r], term(i + r * at_once)); });
  }
  double lanes[16];
  each<registers>([&](auto r) KV_INLINE { hn::StoreU(totals[r], Doubles(), lanes + r * at_once); });
  for (std::size_t lane = 0; i + lane < n; ++lane) lanes[lane] += scalar_term(i + lane);
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

double dot_double(const float* a, const float* b, std::size_t n) {
  return sum_of(
      n, [=](std::size_t i) KV_INLINE { return hn::Mul(load_wide(a + i), load_wide(b + i)); },
      [=](std::size_t i) KV_INLINE { return double{a[i]} * double{b[i]}; });
}

double dot_weights(const float* values, const double* weights, std::size_t n) {
  return sum_of(
      n,
      [=](std::size_t i)
          KV_INLINE { return hn::Mul(load_wide(values + i), hn::LoadU(Doubles(), weights + i)); },
      [=](std::size_t i) KV_INLINE { return double{values[i]} * weights[i]; });
}

double quadratic(const float* values, const double* linear, const double* square, std::size_t n) {
  return sum_of(
      n,
      [=](std::size_t i) KV_INLINE {
        const DoubleRegister value = load_wide(values + i);
        const DoubleRegister curved = hn::Mul(value, hn::LoadU(Doubles(), square + i));
        return hn::Mul(value, hn::Add(hn::LoadU(Doubles(), linear + i), curved));
      },
      [=](std::size_t i) KV_INLINE {
        const double value = values[i];
        return value * (linear[i] + value * square[i]);
      });
}

void log_each(double* values, std::size_t n) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    const auto bits = hn::BitCast(LongWords(), hn::LoadU(Doubles(), values + i));
    const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(LongWords(), log_root_half)));
    // Added to the bits of a number whose last bit is 1, the exponent becomes part of the number.
    const auto magic = hn::Set(LongWords(), std::bit_cast<std::int64_t>(round_magic));
    const DoubleRegister e =
        hn::Sub(hn::BitCast(Doubles(), hn::Add(exponent, magic)), set(round_magic));
    const auto mantissa = hn::BitCast(Doubles(), hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
    const DoubleRegister above = hn::Sub(mantissa, set(1));
    const DoubleRegister s = hn::Div(above, hn::Add(set(2), above));
    const DoubleRegister z = hn::Mul(s, s);
    DoubleRegister p = set(log_terms[0]);
    for (std::size_t term = 1; term < log_terms.size(); ++term) {
      p = hn::Add(hn::Mul(p, z), set(log_terms[term]));
    }
    const DoubleRegister fraction =
        hn::Add(hn::Mul(hn::Mul(set(2), s), p), hn::Mul(e, set(ln2_low)));
    hn::StoreU(hn::Add(hn::Mul(e, set(ln2_high)), fraction), Doubles(), values + i);
  }
  scalar_log_each(values + i, n - i);
}

void exp_each(double* values, std::size_t n) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    const DoubleRegister x = hn::LoadU(Doubles(), values + i);
    const DoubleRegister scaled = hn::Add(hn::Mul(x, set(log2e)), set(round_magic));
    const DoubleRegister whole = hn::Sub(scaled, set(round_magic));
    const DoubleRegister coarse = hn::Sub(x, hn::Mul(whole, set(ln2_high)));
    const DoubleRegister rest = hn::Sub(coarse, hn::Mul(whole, set(ln2_low)));
    DoubleRegister p = set(exp_terms[0]);
    for (std::size_t term = 1; term < exp_terms.size(); ++term) {
      p = hn::Add(hn::Mul(p, rest), set(exp_terms[term]));
    }
    // The low bits of `scaled` are the whole number, and those above them leave by the shift.
    const auto power = hn::Add(hn::ShiftLeft<52>(hn::BitCast(LongWords(), scaled)),
                               hn::Set(LongWords(), std::int64_t{1023} << 52));
    const auto live = hn::Ge(x, set(exp_least));
    const auto result = hn::IfThenElseZero(live, hn::Mul(p, hn::BitCast(Doubles(), power)));
    hn::StoreU(result, Doubles(), values + i);
  }
  scalar_exp_each(values + i, n - i);
}

void add_weighted(double* into, const float* from, double weight, std::size_t n) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    const DoubleRegister more = hn::Mul(set(weight), load_wide(from + i));
    hn::StoreU(hn::Add(hn::LoadU(Doubles(), into + i), more), Doubles(), into + i);
  }
  scalar_add_weighted(into + i, from + i, weight, n - i);
}

void add_to_double(double* into, const float* from, std::size_t n) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    const DoubleRegister here = hn::LoadU(Doubles(), into + i);
    hn::StoreU(hn::Add(here, load_wide(from + i)), Doubles(), into + i);
  }
  scalar_kernels.add_to_double(into + i, from + i, n - i);
}

// Stored numbers stay where both are equal (0 and -0), as with std::min and std::max; the minimum
// of an instruction is not the same on every machine.
void extend_bounds(const float* values, std::size_t n, float* least, float* most) {
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const Register here = hn::LoadU(Floats(), values + i);
    const Register low = hn::LoadU(Floats(), least + i);
    const Register high = hn::LoadU(Floats(), most + i);
    hn::StoreU(hn::IfThenElse(hn::Lt(here, low), here, low), Floats(), least + i);
    hn::StoreU(hn::IfThenElse(hn::Gt(here, high), here, high), Floats(), most + i);
  }
  scalar_extend_bounds(values + i, n - i, least + i, most + i);
}

// Least distances of two registers with the indices that have them, so that a comparison does not
// wait for the one before. Indices are doubles, which comparisons of doubles select.
std::size_t relax(
    const double* cost, const double* price, double base, std::size_t n, double* distance) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  DoubleRegister best[2] = {set(infinite), set(infinite)};
  DoubleRegister where[2] = {set(0), set(0)};
  DoubleRegister index = hn::Iota(Doubles(), 0);
  std::size_t i = 0;
  for (; i + 2 * at_once <= n; i += 2 * at_once) {
    each<2>([&](auto k) KV_INLINE {
      const std::size_t at = i + k * at_once;
      const DoubleRegister reduced =
          hn::Sub(hn::LoadU(Doubles(), cost + at), hn::LoadU(Doubles(), price + at));
      const DoubleRegister through = hn::Add(set(base), reduced);
      const DoubleRegister here = hn::LoadU(Doubles(), distance + at);
      const DoubleRegister shorter = hn::IfThenElse(hn::Lt(through, here), through, here);
      hn::StoreU(shorter, Doubles(), distance + at);
      const auto less = hn::Lt(shorter, best[k]);
      best[k] = hn::Min(shorter, best[k]);
      where[k] = hn::IfThenElse(less, index, where[k]);
      index = hn::Add(index, set(static_cast<double>(at_once)));
    });
  }
  double lanes[2 * at_once];
  double places[2 * at_once];
  each<2>([&](auto k) KV_INLINE {
    hn::StoreU(best[k], Doubles(), lanes + k * at_once);
    hn::StoreU(where[k], Doubles(), places + k * at_once);
  });
  double least = lanes[0];
  double place = places[0];
  for (std::size_t lane = 1; lane < 2 * at_once; ++lane) {
    const bool earlier = lanes[lane] == least && places[lane] < place;
    if (lanes[lane] < least || earlier) place = places[lane];
    least = std::min(least, lanes[lane]);
  }
  if (i == n) return static_cast<std::size_t>(place);
  const std::size_t rest = scalar_kernels.relax(cost + i, price + i, base, n - i, distance + i);
  return distance[i + rest] < least ? i + rest : static_cast<std::size_t>(place);
}

// Two passes: the smallest value, then the first index that has it.
std::size_t argmin_double(const double* values, std::size_t n) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  DoubleRegister best[2] = {set(infinite), set(infinite)};
  std::size_t i = 0;
  for (; i + 2 * at_once <= n; i += 2 * at_once) {
    each<2>([&](auto k) KV_INLINE {
      // Not hn::Min, which a NaN passes on some targets.
      const DoubleRegister here = hn::LoadU(Doubles(), values + i + k * at_once);
      best[k] = hn::IfThenElse(hn::Lt(here, best[k]), here, best[k]);
    });
  }
  double least = hn::GetLane(hn::MinOfLanes(Doubles(), hn::Min(best[0], best[1])));
  for (; i < n; ++i) least = std::min(least, values[i]);
  const double* const found = std::find(values, values + n, least);
  return found == values + n ? 0 : static_cast<std::size_t>(found - values);
}

}  // namespace

void put_double_kernels(Kernels& table) {
  table.argmin_double = argmin_double;
  table.add_to_double = add_to_double;
  table.dot_double = dot_double;
  table.dot_weights = dot_weights;
  table.quadratic = quadratic;
  table.log_each = log_each;
  table.exp_each = exp_each;
  table.add_weighted = add_weighted;
  table.extend_bounds = extend_bounds;
  table.relax = relax;
}

}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv {

void put_highway_double_kernels(Target target, Kernels& table) {
  KV_OF_TARGET(target, put_double_kernels)(table);
}

}  // namespace kv
#endif

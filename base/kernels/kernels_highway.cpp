// The kernels for the targets of Highway. What is neither here nor in kernels_double_highway.cpp or
// narrow_highway.cpp is scalar for these targets.
#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/base/kernels/kernels_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/fused_highway.h"
#include "kvcheck/base/kernels/lanes_highway.h"

#include <algorithm>
#include <cmath>
#include <limits>

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

template <typename Stored>
void widen_as(const std::byte* bytes, std::size_t n, float* out) {
  by_sixteen(n, [=](std::size_t i, auto count) KV_INLINE {
    store(load<Stored>(bytes + sizeof(Stored) * i, count), out + i, count);
  });
}

void widen(Number number, const std::byte* bytes, std::size_t n, float* out) {
  if (number == Number::f16) return widen_as<hwy::float16_t>(bytes, n, out);
  if (number == Number::bf16) return widen_as<hwy::bfloat16_t>(bytes, n, out);
  if (n > 0) std::memcpy(out, bytes, n * sizeof(float));
}

void lane_maxima(const float* values, std::size_t n, float* maxima) {
  Lanes low = all(0);
  Lanes high = low;
  // Values are not negative, so the 0 of a lane without one never changes a maximum. Of two zeros
  // x86 gives the second, so that -0 leaves the maximum 0.
  by_sixteen(n, [&](std::size_t i, auto count) KV_INLINE {
    const Lanes here = load(values + i, count);
    if (i % 32 == 0) {
      low = larger(here, low);
    } else {
      high = larger(here, high);
    }
  });
  store(low, maxima);
  store(high, maxima + 16);
}

bool any_bit(const std::byte* bytes, std::size_t n, std::size_t ahead) {
  const hn::CappedTag<std::uint8_t, 32> tag;
  constexpr std::size_t step = hn::MaxLanes(decltype(tag)());
  const auto* numbers = reinterpret_cast<const std::uint8_t*>(bytes);
  auto bits = hn::Zero(tag);
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    if (ahead > 0 && i % 64 == 0) hwy::Prefetch(numbers + i + ahead);
    bits = hn::Or(bits, hn::LoadU(tag, numbers + i));
  }
  std::uint8_t rest = 0;
  for (; i < n; ++i) rest = static_cast<std::uint8_t>(rest | numbers[i]);
  return rest != 0 || !hn::AllTrue(tag, hn::Eq(bits, hn::Zero(tag)));
}

bool any_sign(const float* values, std::size_t n) {
  auto bits = hn::Zero(Words());
  by_sixteen(n, [&](std::size_t i, auto count) KV_INLINE {
    const Lanes here = load(values + i, count);
    each<parts>([&](auto p) KV_INLINE { bits = hn::Or(bits, hn::BitCast(Words(), here.part[p])); });
  });
  return !hn::AllFalse(Words(), hn::Lt(bits, hn::Zero(Words())));
}

// Keeps four sums of sixteen lanes, because with one sum every addition would wait for the one
// before it.
float sum(const float* values, std::size_t n) {
  Lanes four[4] = {all(0), all(0), all(0), all(0)};
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    each<4>([&](auto k) KV_INLINE { four[k] = add(four[k], load(values + i + 16 * k)); });
  }
  each<4>([&](auto k) KV_INLINE {
    if (i + 16 <= n) {
      four[k] = add(four[k], load(values + i));
    } else if (i < n) {
      four[k] = add(four[k], load(values + i, n - i));
    }
    i += 16;
  });
  return add_lanes(add(add(four[0], four[1]), add(four[2], four[3])));
}

// The order of sum(): sixteen i mod 4 is added to the lanes i mod 4.
template <typename Stored>
RowSum widen_and_sum_as(const std::byte* bytes, std::size_t n, std::size_t ahead, float* out) {
  Lanes four[4] = {all(0), all(0), all(0), all(0)};
  auto bits = hn::Zero(Words());
  const auto step = [&](std::size_t i, Lanes& sum, auto count) KV_INLINE {
    const Lanes here = load<Stored>(bytes + sizeof(Stored) * i, count);
    store(here, out + i, count);
    each<parts>([&](auto p) KV_INLINE { bits = hn::Or(bits, hn::BitCast(Words(), here.part[p])); });
    sum = add(sum, here);
  };
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    each<4>([&](auto k) KV_INLINE { step(i + 16 * k, four[k], Sixteen()); });
    if (ahead == 0) continue;
    const std::byte* next = bytes + sizeof(Stored) * i + ahead;
    each<sizeof(Stored)>([&](auto line) KV_INLINE { hwy::Prefetch(next + 64 * line); });
  }
  each<4>([&](auto k) KV_INLINE {
    if (i + 16 <= n) {
      step(i, four[k], Sixteen());
    } else if (i < n) {
      step(i, four[k], n - i);
    }
    i += 16;
  });
  return {add_lanes(add(add(four[0], four[1]), add(four[2], four[3]))),
          !hn::AllFalse(Words(), hn::Lt(bits, hn::Zero(Words())))};
}

RowSum widen_and_sum(
    Number number, const std::byte* bytes, std::size_t n, std::size_t ahead, float* out) {
  if (number == Number::f16) return widen_and_sum_as<hwy::float16_t>(bytes, n, ahead, out);
  if (number == Number::bf16) return widen_and_sum_as<hwy::bfloat16_t>(bytes, n, ahead, out);
  return widen_and_sum_as<float>(bytes, n, ahead, out);
}

void add_to(float* into, const float* from, std::size_t n) {
  by_sixteen(n, [=](std::size_t i, auto count) KV_INLINE {
    store(add(load(into + i, count), load(from + i, count)), into + i, count);
  });
}

void scale(float* values, float factor, std::size_t n) {
  const Lanes by = all(factor);
  by_sixteen(n, [=](std::size_t i, auto count)
                    KV_INLINE { store(multiply(load(values + i, count), by), values + i, count); });
}

// Few values reach the threshold in practice, so whole sixteens are passed over.
std::size_t at_least(const float* values, std::size_t n, float threshold, Position* at) {
  const Register limit = hn::Set(Floats(), threshold);
  std::size_t count = 0;
  const auto take = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      at[count] = static_cast<Position>(i);
      count += values[i] >= threshold ? 1U : 0U;
    }
  };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const Lanes here = load(values + i);
    auto found = hn::Ge(here.part[0], limit);
    each<parts>([&](auto p) KV_INLINE { found = hn::Or(found, hn::Ge(here.part[p], limit)); });
    if (!hn::AllFalse(Floats(), found)) take(i, i + 16);
  }
  take(i, n);
  return count;
}

// Two passes: the smallest value, then the first index that has it.
std::size_t argmin(const float* values, std::size_t n) {
  Lanes best = all(std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const Lanes here = load(values + i);
    // Not hn::Min, which a NaN passes on some targets.
    best = lanes_of([&](auto p) KV_INLINE {
      return hn::IfThenElse(hn::Lt(here.part[p], best.part[p]), here.part[p], best.part[p]);
    });
  }
  float lanes[16];
  store(best, lanes);
  float least = *std::min_element(lanes, lanes + 16);
  for (; i < n; ++i) least = std::min(least, values[i]);
  const float* const found = std::find(values, values + n, least);
  return found == values + n ? 0 : static_cast<std::size_t>(found - values);
}

void dot_rows(const float* query,
              const float* rows,
              std::size_t n,
              std::size_t dim,
              float factor,
              float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float* row = rows + i * dim;
    Lanes lanes = all(0);
    by_sixteen(dim, [&](std::size_t j, auto count) KV_INLINE {
      lanes = multiply_add(load(query + j, count), load(row + j, count), lanes);
    });
    out[i] = factor * add_lanes(lanes);
  }
}

// C sixteens of columns from j on, of which the last has `count`. Their sums stay in registers over
// all rows, so that each is stored once.
template <std::size_t C, typename RowOf, typename Count>
HWY_INLINE void weigh_columns(const float* weights,
                              const RowOf& row_of,
                              std::size_t n,
                              std::size_t j,
                              Count count,
                              float* out) {
  Lanes total[C];
  each<C>([&](auto c) KV_INLINE { total[c] = all(0); });
  for (std::size_t i = 0; i < n; ++i) {
    const Lanes weight = all(weights[i]);
    const float* row = row_of(i) + j;
    each<C>([&](auto c) KV_INLINE {
      total[c] = multiply_add(weight, load(row + 16 * c, count), total[c]);
    });
  }
  each<C>([&](auto c) KV_INLINE { store(total[c], out + j + 16 * c, count); });
}

template <typename RowOf>
HWY_INLINE void weigh(
    const float* weights, const RowOf& row_of, std::size_t n, std::size_t dim, float* out) {
  constexpr std::size_t at_once = 8 / parts;  // eight registers of sums
  std::size_t j = 0;
  for (; j + 16 * at_once <= dim; j += 16 * at_once) {
    weigh_columns<at_once>(weights, row_of, n, j, Sixteen(), out);
  }
  for (; j + 16 <= dim; j += 16) weigh_columns<1>(weights, row_of, n, j, Sixteen(), out);
  if (j < dim) weigh_columns<1>(weights, row_of, n, j, dim - j, out);
}

void weigh_rows(
    const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out) {
  weigh(
      weights, [=](std::size_t i) KV_INLINE { return rows + i * dim; }, n, dim, out);
}

void weigh_rows_at(const float* weights,
                   const float* rows,
                   const Position* at,
                   std::size_t n,
                   std::size_t dim,
                   float* out) {
  weigh(
      weights, [=](std::size_t i) KV_INLINE { return rows + at[i] * dim; }, n, dim, out);
}

double softmax(float* logits, std::size_t n) {
  Lanes most = all(logits[0]);
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) most = larger(most, load(logits + i));
  float largest = largest_lane(most);
  for (; i < n; ++i) largest = std::max(largest, logits[i]);
  // The largest logit is subtracted first, so that no exponential overflows and their sum is at
  // least 1.
  const Lanes base = all(largest);
  by_sixteen(n, [=](std::size_t j, auto count) KV_INLINE {
    store(exponential(subtract(load(logits + j, count), base)), logits + j, count);
  });
  const float total = sum(logits, n);
  scale(logits, 1.0F / total, n);
  return static_cast<double>(largest) + std::log(static_cast<double>(total));
}

}  // namespace

void put_kernels(Kernels& table) {
  table.widen = widen;
  table.widen_and_sum = widen_and_sum;
  table.lane_maxima = lane_maxima;
  table.any_bit = any_bit;
  table.any_sign = any_sign;
  table.sum = sum;
  table.add = add_to;
  table.scale = scale;
  table.at_least = at_least;
  table.argmin = argmin;
  table.dot_rows = dot_rows;
  table.weigh_rows = weigh_rows;
  table.weigh_rows_at = weigh_rows_at;
  table.softmax = softmax;
}

}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv {

void put_highway_kernels(Target target, Kernels& table) {
  KV_OF_TARGET(target, put_kernels)(table);
  put_highway_double_kernels(target, table);
  put_highway_narrow(target, table);
}

}  // namespace kv
#endif

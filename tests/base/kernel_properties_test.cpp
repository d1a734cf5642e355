// Kernels against their plain twins on what the tables of the other tests leave out: any length and
// offset, numbers of any size, and those that are special: zeros of both signs, denormals,
// infinities and, where a kernel takes it, NaN.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "kvcheck/base/kernels/block_kernels.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

// Which numbers a kernel takes.
enum class Takes { any, no_nan, finite, not_negative };

float allowed(float number, Takes takes) {
  if (takes == Takes::any) return number;
  if (std::isnan(number)) return 1;
  if (takes == Takes::finite && std::isinf(number)) return std::copysign(limits::max(), number);
  return takes == Takes::not_negative && number < 0 ? -number : number;
}

// What a row is made of. Where most sums are infinite or NaN no rounding shows, so rows differ.
enum class Kind { even, tiny, wide, few_specials, mixed };

float number_of(const Rng& rng, std::size_t i, Kind kind) {
  const std::uint64_t drawn = rng.bits(static_cast<Position>(i));
  const auto bits = static_cast<std::uint32_t>(drawn >> 32U);
  const float even = std::ldexp(static_cast<float>(bits >> 8U), -20) - 8;  // from -8 to 8
  const float special = specials[drawn % specials.size()];
  const std::uint64_t chance = drawn >> 16U & 15U;
  if (kind == Kind::tiny) return std::bit_cast<float>(bits & 0x807fffffU);
  if (kind == Kind::wide) return std::ldexp(even, static_cast<int>(drawn % 64) - 32);
  if (kind == Kind::few_specials) return chance == 0 ? special : even;
  if (kind == Kind::mixed) return chance < 8 ? special : std::bit_cast<float>(bits);
  return even;
}

// `n` numbers behind `shift` others; what follows them is poison.
Values drawn(std::size_t n, Takes takes = Takes::any) {
  const Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Kind kind = *rc::gen::element(Kind::even, Kind::even, Kind::even, Kind::tiny, Kind::wide,
                                      Kind::few_specials, Kind::few_specials, Kind::mixed);
  Values values(0, n, *rc::gen::inRange<std::size_t>(0, 17));
  for (std::size_t i = 0; i < n; ++i) values.data()[i] = allowed(number_of(rng, i, kind), takes);
  return values;
}

float one_number() {
  return *drawn(1).data();
}

std::size_t length() {
  // Lengths follow the size of the case, and end at a multiple of the lanes as often as not.
  const std::size_t n = *rc::gen::inRange<std::size_t>(0, 200);
  return *rc::gen::arbitrary<bool>() ? n / 16 * 16 : n;
}

std::vector<double> doubles_of(const Values& values, double factor) {
  std::vector<double> doubles(values.size() + 8, limits::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) doubles[i] = factor * double{values.data()[i]};
  return doubles;
}

class AnyNumbers : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernel_ = *GetParam();
};

TEST_P(AnyNumbers, AreSummedAddedScaledAndDottedBitByBit) {
  EXPECT_TRUE(rc::check([&] {
    const std::size_t n = length();
    const Values from = drawn(n);
    const Values into = drawn(n);
    const float factor = one_number();
    RC_ASSERT(same(kernel_.sum(from.data(), n), scalar().sum(from.data(), n)));
    Values requested = into;
    Values found = into;
    for (const auto& [kernel, out] : {std::pair{&scalar(), &requested}, {&kernel_, &found}}) {
      kernel->add(out->data(), from.data(), n);
      kernel->scale(out->data(), factor, n);
    }
    RC_ASSERT(same_all(found, requested));
    if (n == 0) return;
    const std::size_t rows = *rc::gen::inRange<std::size_t>(0, 40);
    const Values matrix = drawn(rows * n);
    Values dots(1, rows);
    Values dotted(1, rows);
    scalar().dot_rows(from.data(), matrix.data(), rows, n, factor, dots.data());
    kernel_.dot_rows(from.data(), matrix.data(), rows, n, factor, dotted.data());
    RC_ASSERT(same_all(dotted, dots));
    const Values weights = drawn(rows);
    scalar().weigh_rows(weights.data(), matrix.data(), rows, n, requested.data());
    kernel_.weigh_rows(weights.data(), matrix.data(), rows, n, found.data());
    RC_ASSERT(same_all(found, requested));
  }));
}

TEST_P(AnyNumbers, AreComparedAlike) {
  EXPECT_TRUE(rc::check([&] {
    const std::size_t n = length();
    const Values any = drawn(n);
    RC_ASSERT(kernel_.any_sign(any.data(), n) == scalar().any_sign(any.data(), n));
    const float threshold = one_number();
    std::vector<Position> requested(n + 16);
    std::vector<Position> found(n + 16);
    requested.resize(scalar().at_least(any.data(), n, threshold, requested.data()));
    found.resize(kernel_.at_least(any.data(), n, threshold, found.data()));
    RC_ASSERT(found == requested);
    const Values sizes = drawn(n, Takes::not_negative);
    Values maxima(2, 32);
    Values maxima_found(2, 32);
    scalar().lane_maxima(sizes.data(), n, maxima.data());
    kernel_.lane_maxima(sizes.data(), n, maxima_found.data());
    RC_ASSERT(same_all(maxima_found, maxima));
    if (n == 0) return;
    const Values ordered = drawn(n, Takes::no_nan);
    const std::vector<double> wide = doubles_of(ordered, 1);
    const auto least = static_cast<std::size_t>(
        std::min_element(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(n)) -
        wide.begin());
    RC_ASSERT(kernel_.argmin(ordered.data(), n) == least);
    RC_ASSERT(kernel_.argmin_double(wide.data(), n) == least);
  }));
}

TEST_P(AnyNumbers, HaveTheSameLargest) {
  EXPECT_TRUE(rc::check([&] {
    const auto m = *rc::gen::inRange<std::size_t>(0, most_candidates + 1);
    const auto k = *rc::gen::inRange<std::size_t>(0, most_candidates + 1);
    const Values values = drawn(2 * m, Takes::no_nan);
    std::vector<Position> order(m);
    for (std::size_t i = 0; i < m; ++i) order[i] = static_cast<Position>(2 * i);
    std::vector<Position> found(m);
    found.resize(kernel_.largest(values.data(), order.data(), m, k, found.data()));
    std::ranges::stable_sort(order, std::greater(), [&](Position at) { return values.data()[at]; });
    order.resize(std::min(k, m));
    std::ranges::sort(order);
    RC_ASSERT(found == order);
  }));
}

TEST_P(AnyNumbers, HaveTheSameBounds) {
  EXPECT_TRUE(rc::check([&] {
    const std::size_t n = length();
    const Values values = drawn(n, Takes::no_nan);
    const Values bounds = drawn(n, Takes::no_nan);
    Values least = bounds;
    Values most_of = bounds;
    Values least_found = bounds;
    Values most_found = bounds;
    scalar().extend_bounds(values.data(), n, least.data(), most_of.data());
    kernel_.extend_bounds(values.data(), n, least_found.data(), most_found.data());
    RC_ASSERT(same_all(least_found, least));
    RC_ASSERT(same_all(most_found, most_of));
  }));
}

TEST_P(AnyNumbers, AreSummedInDoubleBitByBit) {
  EXPECT_TRUE(rc::check([&] {
    const std::size_t n = length();
    const Values a = drawn(n);
    const Values b = drawn(n);
    const std::vector<double> linear = doubles_of(drawn(n), 1.0 / 3);
    const std::vector<double> square = doubles_of(drawn(n), 1.0 / 7);
    RC_ASSERT(same(kernel_.dot_double(a.data(), b.data(), n),
                   scalar().dot_double(a.data(), b.data(), n)));
    RC_ASSERT(same(kernel_.dot_weights(a.data(), linear.data(), n),
                   scalar().dot_weights(a.data(), linear.data(), n)));
    RC_ASSERT(same(kernel_.quadratic(a.data(), linear.data(), square.data(), n),
                   scalar().quadratic(a.data(), linear.data(), square.data(), n)));
    std::vector<double> requested = linear;
    std::vector<double> found = linear;
    for (const auto& [kernel, into] : {std::pair{&scalar(), &requested}, {&kernel_, &found}}) {
      kernel->add_to_double(into->data(), b.data(), n);
      kernel->add_weighted(into->data(), a.data(), 1.0 / 3, n);
    }
    RC_ASSERT(same_all(found, requested));
  }));
}

TEST_P(AnyNumbers, AreSoftmaxedBitByBitWhereTheyAreFinite) {
  EXPECT_TRUE(rc::check([&] {
    const std::size_t n = 1 + length();
    Values requested = drawn(n, Takes::finite);
    Values found = requested;
    const double log_sum = scalar().softmax(requested.data(), n);
    RC_ASSERT(same(kernel_.softmax(found.data(), n), log_sum));
    RC_ASSERT(same_all(found, requested));
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += double{found.data()[i]};
    RC_ASSERT(std::abs(sum - 1) < 1e-4);
  }));
}

INSTANTIATE_TEST_SUITE_P(Machine,
                         AnyNumbers,
                         testing::ValuesIn(supported_kernels().begin(), supported_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

// Several vectors at once, of any numbers: what they give one by one.
TEST(AnyRows, AreDottedAndWeighedForSeveralVectorsAsForEach) {
  for (const BlockKernels* const block : supported_block_kernels()) {
    EXPECT_TRUE(rc::check([&] {
      const auto dim = *rc::gen::inRange<std::size_t>(1, 70);
      const auto n = *rc::gen::inRange<std::size_t>(0, 40);
      const auto count = *rc::gen::inRange<std::size_t>(0, 9);
      const Values numbers = drawn(n * dim);
      const Values vectors = drawn(count * dim);
      const Rows rows{numbers.data(), n, dim};
      Values found(1, count * n);
      block->dot_rows(vectors.data(), count, rows, 0.5F, {found.data(), n});
      Values requested(1, count * n);
      for (std::size_t t = 0; t < count; ++t) {
        scalar().dot_rows(vectors.data() + t * dim, rows.numbers, n, dim, 0.5F,
                          requested.data() + t * n);
      }
      RC_ASSERT(same_all(found, requested));
      const Values weights = drawn(count * n);
      std::vector<std::size_t> ends;
      for (std::size_t t = 0; t < count; ++t) {
        ends.push_back(*rc::gen::inRange<std::size_t>(0, n + 1));
      }
      Values weighed(1, count * dim);
      block->weigh_rows({weights.data(), n}, ends.data(), count, rows, weighed.data());
      Values expected(1, count * dim);
      for (std::size_t t = 0; t < count; ++t) {
        scalar().weigh_rows(weights.data() + t * n, rows.numbers, ends[t], dim,
                            expected.data() + t * dim);
      }
      RC_ASSERT(same_all(weighed, expected));
    })) << block->name;
  }
}

}  // namespace
}  // namespace kv

#include "kvcheck/base/kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

std::vector<Position> places(std::size_t n, std::size_t below) {
  std::vector<Position> at(n);
  const Rng rng(99);
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = static_cast<Position>(rng.below(below, static_cast<Position>(i)));
  }
  return at;
}

// Every kernel of this machine against the scalar one.
class EveryKernel : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernel_ = *GetParam();
};

TEST_P(EveryKernel, WidensBitByBit) {
  const Rng rng(1);
  std::vector<std::byte> bytes(1 + 4 * most);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(rng.bits(static_cast<Position>(i)));
  }
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    for (std::size_t n = 0; n <= most; ++n) {
      for (const std::size_t shift : {0U, 1U}) {
        Values requested(2, n);
        Values found(2, n);
        scalar().widen(number, bytes.data() + shift, n, requested.data());
        kernel_.widen(number, bytes.data() + shift, n, found.data());
        // Signalling NaNs may come out quiet, depending on the instruction: NaN is enough.
        for (std::size_t i = 0; i < n; ++i) {
          if (std::isnan(requested.data()[i]) && std::isnan(found.data()[i])) {
            requested.data()[i] = found.data()[i] = 0;
          }
        }
        ASSERT_EQ(found.bits(), requested.bits()) << n;
      }
    }
  }
}

TEST_P(EveryKernel, WidensEveryHalf) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    float f16 = 0;
    float bf16 = 0;
    kernel_.widen(Number::f16, reinterpret_cast<const std::byte*>(&half), 1, &f16);
    kernel_.widen(Number::bf16, reinterpret_cast<const std::byte*>(&half), 1, &bf16);
    const float requested = f16_to_f32(half);
    ASSERT_TRUE(std::bit_cast<std::uint32_t>(f16) == std::bit_cast<std::uint32_t>(requested) ||
                (std::isnan(f16) && std::isnan(requested)))
        << bits;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16), bits << 16);
  }
}

TEST_P(EveryKernel, SumsBitByBit) {
  for (std::size_t n = 0; n <= most; ++n) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      const Values values(n, n, shift);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(kernel_.sum(values.data(), n)),
                std::bit_cast<std::uint32_t>(scalar().sum(values.data(), n)))
          << n;
    }
  }
}

TEST_P(EveryKernel, GathersAddsAndScalesBitByBit) {
  for (std::size_t n = 0; n <= most; ++n) {
    const Values from(3, most);
    const std::vector<Position> at = places(n, most);
    Values requested(4, n);
    Values found(4, n);
    for (const auto& [kernel, into] : {std::pair{&scalar(), &requested}, {&kernel_, &found}}) {
      kernel->gather(from.data(), at.data(), n, into->data());
      kernel->add(into->data(), from.data(), n);
      kernel->scale(into->data(), 0.3F, n);
    }
    ASSERT_EQ(found.bits(), requested.bits()) << n;
  }
}

TEST_P(EveryKernel, FindsAllThatReachAThreshold) {
  for (std::size_t n = 0; n <= most; ++n) {
    const Values values(5, n);
    for (const float threshold : {-9.0F, 0.0F, 7.5F, 9.0F, values.data()[n / 2]}) {
      std::vector<Position> requested(n + 16);
      std::vector<Position> found(n + 16);
      requested.resize(scalar().at_least(values.data(), n, threshold, requested.data()));
      found.resize(kernel_.at_least(values.data(), n, threshold, found.data()));
      ASSERT_EQ(found, requested) << n;
      if (n > 0 && threshold == values.data()[n / 2]) {
        ASSERT_TRUE(std::ranges::binary_search(found, static_cast<Position>(n / 2)));
      }
    }
  }
}

TEST_P(EveryKernel, FindsTheMaximaOfLanesAndAnySign) {
  for (std::size_t n = 0; n <= most; ++n) {
    Values values(12, n);
    EXPECT_EQ(kernel_.any_sign(values.data(), n), scalar().any_sign(values.data(), n)) << n;
    for (std::size_t i = 0; i < n; ++i) values.data()[i] = std::abs(values.data()[i]);
    ASSERT_FALSE(kernel_.any_sign(values.data(), n)) << n;
    Values requested(2, 32);
    Values found(2, 32);
    scalar().lane_maxima(values.data(), n, requested.data());
    kernel_.lane_maxima(values.data(), n, found.data());
    ASSERT_EQ(found.bits(), requested.bits()) << n;
    if (n == 0) continue;
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      Values negative = values;
      negative.data()[at] = -0.0F;
      ASSERT_TRUE(kernel_.any_sign(negative.data(), n)) << n;
    }
  }
}

TEST_P(EveryKernel, FindsAnyBitOfTheBytesAndNoneBeyond) {
  for (std::size_t n = 0; n <= most; ++n) {
    std::vector<std::byte> bytes(n + 128);
    bytes[n + 1] = std::byte{1};
    ASSERT_FALSE(kernel_.any_bit(bytes.data() + 1, n, n % 3 * 64)) << n;
    for (std::size_t i = 1; i <= n; ++i) {
      bytes[i] = std::byte{0x40};
      ASSERT_TRUE(kernel_.any_bit(bytes.data() + 1, n, n % 3 * 64)) << i << " of " << n;
      bytes[i] = std::byte{0};
    }
  }
}

TEST_P(EveryKernel, TakesTheLargestAndOfEqualsTheEarlier) {
  for (std::size_t m = 0; m <= most_candidates; ++m) {
    Values values(13, most);
    for (std::size_t i = 0; i < most; ++i) {
      if (m % 2 == 0) values.data()[i] = std::round(values.data()[i]);  // many ties
    }
    std::vector<Position> candidates(m);
    for (std::size_t i = 0; i < m; ++i) candidates[i] = static_cast<Position>(2 * i);
    for (const std::size_t k : {std::size_t{1}, std::size_t{16}, m}) {
      std::vector<Position> order = candidates;
      std::ranges::stable_sort(order, std::greater(),
                               [&](Position at) { return values.data()[at]; });
      order.resize(std::min(k, m));
      std::ranges::sort(order);
      std::vector<Position> found(m);
      found.resize(kernel_.largest(values.data(), candidates.data(), m, k, found.data()));
      ASSERT_EQ(found, order) << m << " " << k;
    }
  }
}

TEST_P(EveryKernel, NanReachesNothing) {
  const std::vector<float> values = {1, std::numeric_limits<float>::quiet_NaN(), 2};
  std::vector<Position> found(19);
  found.resize(kernel_.at_least(values.data(), 3, 0.0F, found.data()));
  EXPECT_EQ(found, (std::vector<Position>{0, 2}));
}

TEST_P(EveryKernel, AddsToDoublesAndFindsTheSmallestBitByBit) {
  for (std::size_t n = 0; n <= most; ++n) {
    const Values from(11, n);
    std::vector<double> requested(n + 8, 0.1);
    std::vector<double> found = requested;
    for (int times = 0; times < 3; ++times) {
      scalar().add_to_double(requested.data(), from.data(), n);
      kernel_.add_to_double(found.data(), from.data(), n);
    }
    ASSERT_EQ(found, requested) << n;
    if (n == 0) continue;
    found[n / 3] = found[n - 1] = -100;
    ASSERT_EQ(kernel_.argmin_double(found.data(), n), n / 3) << n;
    requested.resize(n);
    ASSERT_EQ(kernel_.argmin_double(requested.data(), n),
              std::ranges::min_element(requested) - requested.begin());
  }
}

TEST_P(EveryKernel, RelaxesDistancesBitByBitAndNotBeyondTheEnd) {
  const Rng rng(12);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n <= most; ++n) {
    std::vector<double> cost(n + 1), price(n + 1), found(n + 8, 7), requested(n + 8, 7);
    for (std::size_t i = 0; i < n; ++i) {
      cost[i + 1] = rng.uniform(static_cast<Position>(i), 0);
      price[i + 1] = i % 5 == 4 ? -infinite : rng.uniform(static_cast<Position>(i), 1);
      found[i] = i % 7 == 6 ? infinite : rng.uniform(static_cast<Position>(i), 2);
      requested[i] = std::min(found[i], 0.125 + (cost[i + 1] - price[i + 1]));
    }
    const std::size_t nearest =
        kernel_.relax(cost.data() + 1, price.data() + 1, 0.125, n, found.data());
    ASSERT_EQ(found, requested) << n;
    ASSERT_EQ(nearest, scalar().argmin_double(found.data(), n)) << n;
  }
}

TEST_P(EveryKernel, TheNearestIsTheFirstOfTies) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (std::size_t n = 1; n <= most; ++n) {
    const std::vector<double> cost(n, 5);
    std::vector<double> price(n, 1);
    std::vector<double> distance(n, infinite);
    ASSERT_EQ(kernel_.relax(cost.data(), price.data(), 1, n, distance.data()), 0U) << n;
    for (std::size_t at = 0; at < n; ++at) {
      distance.assign(n, 9);
      price.assign(n, -infinite);  // closed
      for (std::size_t i = at; i < n; i += 1 + at % 5) price[i] = 2;
      ASSERT_EQ(kernel_.relax(cost.data(), price.data(), 1, n, distance.data()), at) << n;
    }
    distance.assign(n, infinite);
    price.assign(n, -infinite);
    ASSERT_EQ(kernel_.relax(cost.data(), price.data(), 1, n, distance.data()), 0U) << n;
  }
}

TEST_P(EveryKernel, TheSmallestIsTheFirstOfTies) {
  for (std::size_t n = 1; n <= most; ++n) {
    Values values(n, n);
    ASSERT_EQ(kernel_.argmin(values.data(), n), scalar().argmin(values.data(), n)) << n;
    for (const std::size_t first : {std::size_t{0}, n / 2, n - 1}) {
      Values tied(n, n);
      for (std::size_t i = first; i < n; i += 3) tied.data()[i] = -9;
      ASSERT_EQ(kernel_.argmin(tied.data(), n), first) << n;
    }
  }
}

TEST_P(EveryKernel, TheSmallestIsTheFirstAmongZerosOfEitherSignAndInfinities) {
  const std::vector<float> zeros = {1, 0.0F, -0.0F};
  EXPECT_EQ(kernel_.argmin(zeros.data(), 3), 1U);
  const std::vector<float> infinite(20, std::numeric_limits<float>::infinity());
  EXPECT_EQ(kernel_.argmin(infinite.data(), 20), 0U);
}

TEST_P(EveryKernel, DotsRowsBitByBit) {
  for (std::size_t dim = 1; dim <= 130; ++dim) {
    for (const std::size_t n : {1U, 5U, 15U, 16U, 17U, 33U}) {
      const Values query(6, dim);
      const Values rows(7, n * dim, 3);
      Values requested(8, n);
      Values found(8, n);
      scalar().dot_rows(query.data(), rows.data(), n, dim, 0.125F, requested.data());
      kernel_.dot_rows(query.data(), rows.data(), n, dim, 0.125F, found.data());
      ASSERT_EQ(found.bits(), requested.bits()) << dim << " x " << n;
    }
  }
}

TEST_P(EveryKernel, WeighsRowsBitByBit) {
  for (std::size_t dim = 1; dim <= 130; ++dim) {
    for (const std::size_t n : {0U, 1U, 7U}) {
      const Values weights(9, n);
      const Values rows(10, 8 * dim, 3);
      const std::vector<Position> at = places(n, 8);
      Values requested(11, dim);
      Values found(11, dim);
      scalar().weigh_rows(weights.data(), rows.data(), n, dim, requested.data());
      kernel_.weigh_rows(weights.data(), rows.data(), n, dim, found.data());
      ASSERT_EQ(found.bits(), requested.bits()) << dim;
      scalar().weigh_rows_at(weights.data(), rows.data(), at.data(), n, dim, requested.data());
      kernel_.weigh_rows_at(weights.data(), rows.data(), at.data(), n, dim, found.data());
      ASSERT_EQ(found.bits(), requested.bits()) << dim;
    }
  }
}

TEST_P(EveryKernel, SoftmaxesBitByBit) {
  for (std::size_t n = 1; n <= most; ++n) {
    for (const float spread : {1.0F, 15.0F}) {
      Values requested(12 + n, n);
      Values found(12 + n, n);
      for (Values* values : {&requested, &found}) scalar().scale(values->data(), spread, n);
      const double log_sum = scalar().softmax(requested.data(), n);
      ASSERT_EQ(kernel_.softmax(found.data(), n), log_sum) << n;
      ASSERT_EQ(found.bits(), requested.bits()) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machine,
                         EveryKernel,
                         testing::ValuesIn(supported_kernels().begin(), supported_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

}  // namespace
}  // namespace kv

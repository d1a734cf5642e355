// The kernels that sum in double, and the bounds of rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

// Every kernel of this machine against the scalar one.
class EveryDoubleKernel : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernel_ = *GetParam();
};

TEST_P(EveryDoubleKernel, SumsInDoubleBitByBit) {
  const Kernels& plain = scalar();
  for (std::size_t n = 0; n <= most; ++n) {
    const Values a(14, n);
    const Values b(15, n, 3);
    // The numbers behind the end would show, as with Values.
    std::vector<double> linear(n + 16, std::numeric_limits<double>::quiet_NaN());
    std::vector<double> square = linear;
    for (std::size_t i = 0; i < n; ++i) {
      linear[i] = double{b.data()[i]} / 3;
      square[i] = double{a.data()[i]} / 7;
    }
    ASSERT_EQ(kernel_.dot_double(a.data(), b.data(), n), plain.dot_double(a.data(), b.data(), n));
    ASSERT_EQ(kernel_.dot_weights(a.data(), linear.data(), n),
              plain.dot_weights(a.data(), linear.data(), n));
    ASSERT_EQ(kernel_.quadratic(a.data(), linear.data(), square.data(), n),
              plain.quadratic(a.data(), linear.data(), square.data(), n));
    std::vector<double> found(n + 8, 0.1);
    std::vector<double> requested = found;
    kernel_.add_weighted(found.data(), a.data(), 1.0 / 3, n);
    plain.add_weighted(requested.data(), a.data(), 1.0 / 3, n);
    ASSERT_EQ(found, requested) << n;
  }
}

// What is summed is what the header says, not only the same for all machines.
TEST_P(EveryDoubleKernel, SumsInDoubleAreWhatTheirNamesSay) {
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {5, -7, 11};
  const std::vector<double> linear = {0.5, 0.25, 2};
  const std::vector<double> square = {1, -1, 0.125};
  EXPECT_EQ(kernel_.dot_double(a.data(), b.data(), 3), 24);
  EXPECT_EQ(kernel_.dot_weights(a.data(), linear.data(), 3), 7);
  EXPECT_EQ(kernel_.quadratic(a.data(), linear.data(), square.data(), 3), 5.125);
  std::vector<double> into = {1, 1, 1};
  kernel_.add_weighted(into.data(), b.data(), 2, 3);
  EXPECT_EQ(into, (std::vector<double>{11, -13, 23}));
}

TEST_P(EveryDoubleKernel, ExtendsBoundsBitByBit) {
  for (std::size_t n = 0; n <= most; ++n) {
    Values least(16, n), most_found(17, n);
    Values values(18, n, 3);
    for (std::size_t i = 0; i < n; i += 5) {
      values.data()[i] = -0.0F;
      least.data()[i] = most_found.data()[i] = 0.0F;
    }
    Values plain_least = least;
    Values plain_most = most_found;
    kernel_.extend_bounds(values.data(), n, least.data(), most_found.data());
    scalar().extend_bounds(values.data(), n, plain_least.data(), plain_most.data());
    ASSERT_EQ(least.bits(), plain_least.bits()) << n;
    ASSERT_EQ(most_found.bits(), plain_most.bits()) << n;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(least.data()[i], values.data()[i]);
      ASSERT_GE(most_found.data()[i], values.data()[i]);
    }
  }
}

TEST_P(EveryDoubleKernel, TakesLogarithmsBitByBitAndRightly) {
  const Rng rng(19);
  for (std::size_t n = 0; n <= most; ++n) {
    std::vector<double> found(n + 8, -1);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<Position>(i);
      // Of all sizes, and close to 1 from both sides.
      found[i] = i % 3 == 0 ? std::exp(1400 * rng.uniform(at) - 700)
                            : 1 + std::ldexp(rng.uniform(at) - 0.5, -static_cast<int>(i % 53));
    }
    std::vector<double> requested = found;
    const std::vector<double> values = found;
    kernel_.log_each(found.data(), n);
    scalar().log_each(requested.data(), n);
    ASSERT_EQ(found, requested) << n;
    for (std::size_t i = 0; i < n; ++i) {
      const double right = std::log(values[i]);
      ASSERT_NEAR(found[i], right, 4 * std::abs(right) * 0x1p-52) << values[i];
    }
  }
}

TEST_P(EveryDoubleKernel, TakesExponentialsBitByBitAndRightly) {
  const Rng rng(20);
  for (std::size_t n = 0; n <= most; ++n) {
    std::vector<double> found(n + 8, 1);
    for (std::size_t i = 0; i < n; ++i) {
      found[i] = -std::exp(14 * rng.uniform(static_cast<Position>(i)) - 8);
    }
    if (n > 2) found[0] = 0, found[1] = -708, found[2] = -1e300;
    std::vector<double> requested = found;
    const std::vector<double> values = found;
    kernel_.exp_each(found.data(), n);
    scalar().exp_each(requested.data(), n);
    ASSERT_EQ(found, requested) << n;
    for (std::size_t i = 0; i < n; ++i) {
      const double right = values[i] < -708 ? 0 : std::exp(values[i]);
      ASSERT_NEAR(found[i], right, 4 * right * 0x1p-52) << values[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machine,
                         EveryDoubleKernel,
                         testing::ValuesIn(supported_kernels().begin(), supported_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

}  // namespace
}  // namespace kv

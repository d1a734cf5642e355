// The scalar kernels against double precision: what "sum" and "dot" mean.
#include <cmath>

#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

TEST(ScalarKernel, SumsDotsAndWeighsWithinRounding) {
  const Values values(13, most);
  const Values rows(14, 3 * most);
  double sum = 0;
  double size = 0;
  for (std::size_t i = 0; i < most; ++i) {
    sum += values.data()[i];
    size += std::abs(values.data()[i]);
  }
  // Each of 64 lanes adds 5 values, then six levels of the tree: 11 roundings of at most 2^-24.
  EXPECT_NEAR(scalar().sum(values.data(), most), sum, size * 11 * 0x1p-24);

  std::vector<float> dots(3);
  scalar().dot_rows(values.data(), rows.data(), 3, most, 0.5F, dots.data());
  std::vector<float> weighed(most);
  scalar().weigh_rows(values.data(), rows.data(), 3, most, weighed.data());
  for (std::size_t r = 0; r < 3; ++r) {
    double dot = 0;
    double bound = 0;
    for (std::size_t j = 0; j < most; ++j) {
      const double product = static_cast<double>(values.data()[j]) * rows.data()[r * most + j];
      dot += product / 2;
      bound += std::abs(product);
    }
    EXPECT_NEAR(dots[r], dot, bound * 23 * 0x1p-24);
  }
  for (std::size_t j = 0; j < most; ++j) {
    double requested = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      requested += static_cast<double>(values.data()[r]) * rows.data()[r * most + j];
    }
    ASSERT_NEAR(weighed[j], requested, 200 * 5 * 0x1p-24) << j;
  }
}

TEST(ScalarKernel, WeighsTheNamedRows) {
  const std::vector<float> rows = {1, 2, 10, 20, 100, 200};
  const std::vector<float> weights = {0.5F, 2};
  const std::vector<Position> at = {2, 0};
  std::vector<float> out(2);
  scalar().weigh_rows_at(weights.data(), rows.data(), at.data(), 2, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{52, 104}));
}

TEST(ScalarKernel, ExponentialsAreWithinTheStatedError) {
  // Two logits, 0 and x: the quotient of the results is the kernel's exp(x) alone, to two
  // roundings.
  for (int i = 0; i <= 87 * 2000; ++i) {
    std::vector<float> pair = {0, static_cast<float>(-i) / 2000};
    const double requested = std::exp(static_cast<double>(pair[1]));
    scalar().softmax(pair.data(), 2);
    const double found = static_cast<double>(pair[1]) / pair[0];
    ASSERT_LT(std::abs(found / requested - 1), 4e-7 + 2 * 0x1p-24) << i;
  }
}

TEST(ScalarKernel, SoftmaxAgreesWithDoublePrecision) {
  for (std::size_t n = 1; n <= most; ++n) {
    Values logits(15 + n, n);
    std::vector<double> requested(n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += requested[i] = std::exp(double{logits.data()[i]});
    EXPECT_NEAR(scalar().softmax(logits.data(), n), std::log(total), 4e-6);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(logits.data()[i] * total / requested[i], 1, 2e-6) << i << " of " << n;
    }
  }
}

TEST(ScalarKernel, SoftmaxGivesZeroFarBelowTheLargestAndNeverOverflows) {
  std::vector<float> logits = {3e38F, 0, 3e38F, -3e38F};
  scalar().softmax(logits.data(), 4);
  EXPECT_EQ(logits, (std::vector<float>{0.5F, 0, 0.5F, 0}));
  std::vector<float> edge = {100, 13, 12.9999F};
  scalar().softmax(edge.data(), 3);
  EXPECT_GT(edge[1], 0.0F);
  EXPECT_EQ(edge[2], 0.0F);
}

}  // namespace
}  // namespace kv

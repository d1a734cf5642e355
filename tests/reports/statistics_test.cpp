#include "kvcheck/reports/numbers/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/bootstrap.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::reports {
namespace {

using ::testing::ElementsAreArray;

// By hand: mean 3, s^2 = 10/4 = 2.5, s/sqrt(5) = 0.70711, and tables give t(0.975, 4) = 2.776445.
TEST(TInterval, AgreesWithATableOfT) {
  const std::array<double, 5> values = {1, 2, 3, 4, 5};
  const Interval interval = t_interval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.high - 3, 2.776445 * 0.7071068, 1e-6);
  EXPECT_NEAR(3 - interval.low, 2.776445 * 0.7071068, 1e-6);
  EXPECT_NEAR(interval.half_width(), 1.963243, 1e-6);
}

TEST(TInterval, HasNoWidthForOneValueAndNothingForNone) {
  const std::array<double, 1> one = {0.25};
  EXPECT_DOUBLE_EQ(t_interval(one).mean, 0.25);
  EXPECT_TRUE(std::isnan(t_interval(one).low));
  EXPECT_TRUE(std::isnan(t_interval({}).mean));
}

TEST(TInterval, IsNotANumberWhenAValueWasNotMeasured) {
  const std::array<double, 3> values = {1, not_measured, 3};
  EXPECT_TRUE(std::isnan(t_interval(values).mean));
  EXPECT_TRUE(std::isnan(t_interval(values).high));
}

// By hand with z = 1.959964: 3 of 10 gives (0.3 + 0.192073 -+ 1.959964 * 0.174218) / 1.384146.
TEST(ShareInterval, AgreesWithWilsonsFormula) {
  const Interval interval = share_interval(3, 10);
  EXPECT_DOUBLE_EQ(interval.mean, 0.3);
  EXPECT_NEAR(interval.low, 0.107789, 1e-5);
  EXPECT_NEAR(interval.high, 0.603222, 1e-5);
}

// Of shares of answers, and of orders with and without ties.
TEST(ShareInterval, AndRankCorrelationAgreeWithNumPy) {
  const std::string& python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const Rng rng(3, 1);
  std::uint32_t drawn = 0;
  const auto draw = [&](std::uint32_t below) {
    return static_cast<double>(rng.below(below, drawn++)) / (below - 1.0);
  };
  const auto list = [](const std::vector<double>& values) {
    std::string text;
    for (const double value : values) text += " " + shortest(value);
    return text;
  };
  std::string lines;
  std::vector<double> expected;
  for (const std::size_t count : {6U, 40U, 200U}) {
    for (const std::uint32_t below :
         {2U, 5U, 1'000'000U}) {  // right or wrong; ties; hardly any tie
      std::vector<double> a(count);
      std::vector<double> b(count);
      for (double& value : a) value = draw(below);
      for (std::size_t i = 0; i < count; ++i) b[i] = i % 3 == 0 ? a[i] : draw(below);
      const Interval interval = share_interval(a);
      expected.insert(expected.end(), {interval.mean, interval.low, interval.high});
      expected.push_back(rank_correlation(a, b));
      lines += "wilson" + list(a) + "\nspearman" + list(a) + " ;" + list(b) + "\n";
    }
  }
  const test::TemporaryFolder folder;
  const std::string input = folder / "lines.txt";
  std::ofstream(input) << lines;
  const test::Ran ran = test::run_shell(
      python + " -B " KVCHECK_SOURCE_DIR "/tests/reports/statistics_reference.py < '" + input +
      "'");
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::istringstream found(ran.out);
  for (const double value : expected) {
    double numpy = 0;
    ASSERT_TRUE(found >> numpy);
    EXPECT_NEAR(value, numpy, 1e-9);
  }
}

TEST(ShareInterval, LiesInsideZeroAndOne) {
  EXPECT_EQ(share_interval(0, 20).low, 0.0);
  EXPECT_GT(share_interval(0, 20).high, 0.1);
  EXPECT_EQ(share_interval(20, 20).high, 1.0);
  EXPECT_TRUE(std::isnan(share_interval(0, 0).mean));
}

// Of the 8 sign patterns of 1, 2, 3 two reach 6: all signs changed, and none.
TEST(PairedFlips, CountsThePatternsThatAreAsFar) {
  const std::vector<double> zeros(3);
  EXPECT_DOUBLE_EQ(paired_flips(std::vector<double>{1, 2, 3}, zeros), 2.0 / 8);
  EXPECT_DOUBLE_EQ(paired_flips(zeros, std::vector<double>{1, 2, 3}), 2.0 / 8);
  // 1 + 2 - 3 is 0: nothing is nearer.
  EXPECT_DOUBLE_EQ(paired_flips(std::vector<double>{1, 2, -3}, zeros), 1);
  EXPECT_DOUBLE_EQ(paired_flips(zeros, zeros), 1);
}

// More texts than are held are drawn when they are asked for.
TEST(DrawnSigns, AreTheSameForAnyNumberOfTexts) {
  DrawnSigns few(40);
  DrawnSigns more(50);
  DrawnSigns many(5000);
  for (const std::size_t text : {0U, 7U, 39U}) {
    const auto all = few.of_text(text);
    const std::vector<std::int8_t> signs(all.begin(), all.end());
    EXPECT_THAT(more.of_text(text), ElementsAreArray(signs));
    EXPECT_THAT(many.of_text(text), ElementsAreArray(signs));
    EXPECT_THAT(many.of_text(text, 300, 64), ElementsAreArray(std::span(signs).subspan(300, 64)));
    EXPECT_NEAR(static_cast<double>(std::ranges::count(signs, 1)), 10'000, 350);
  }
}

TEST(Resamples, AreTheSameHoweverManyAreTakenTogether) {
  for (const std::size_t count : {20U, 5000U}) {
    Resamples drawn(count);
    const auto some = drawn.rows(16, 8);
    const std::vector<std::uint32_t> eight(some.begin(), some.end());
    ASSERT_EQ(eight.size(), 8 * count);
    EXPECT_LT(std::ranges::max(eight), count);
    EXPECT_THAT(Resamples(count).rows(19, 1),
                ElementsAreArray(std::span(eight).subspan(3 * count, count)));
  }
}

TEST(PairedFlips, DrawsPatternsWhereThereAreManyAndCountsAlikeElse) {
  const std::vector<double> zeros(24);
  EXPECT_NEAR(paired_flips(std::vector<double>(24, 0.1), zeros), 1.0 / 20001, 1e-12);
  // Sums of 24 signs: a binomial; as far as 4 of 24 in surplus is 0.5413.
  std::vector<double> mixed(24, 1);
  for (std::size_t i = 0; i < 10; ++i) mixed[i] = -1;
  EXPECT_NEAR(paired_flips(mixed, zeros), 0.5413, 0.015);
}

// A mean over seeds counts as that part of a hit.
TEST(ShareInterval, OfSharesIsThatOfTheirSum) {
  const Interval counted = share_interval(3, 10);
  std::vector<double> shares(10, 0.0);
  shares[1] = shares[4] = shares[9] = 1;
  EXPECT_DOUBLE_EQ(share_interval(shares).low, counted.low);
  shares[4] = shares[5] = 0.5;
  EXPECT_DOUBLE_EQ(share_interval(shares).mean, 0.3);
  EXPECT_DOUBLE_EQ(share_interval(shares).high, counted.high);
  const Interval all = share_interval(std::vector<double>(20, 1.0));
  EXPECT_NEAR(all.low, 0.8389, 1e-4);
  EXPECT_EQ(all.high, 1);
  EXPECT_TRUE(std::isnan(share_interval(std::span<const double>()).mean));
}

TEST(Holm, MultipliesByHowManyAreLeft) {
  const double nan = std::nan("");
  const auto score = holm(std::vector<double>{0.01, nan, 0.04, 0.03, 0.9});
  EXPECT_DOUBLE_EQ(score[0], 0.04);
  EXPECT_TRUE(std::isnan(score[1]));
  EXPECT_DOUBLE_EQ(score[2], 0.09);  // 0.08, but not less than the one before
  EXPECT_DOUBLE_EQ(score[3], 0.09);
  EXPECT_DOUBLE_EQ(score[4], 0.9);
  EXPECT_DOUBLE_EQ(holm(std::vector<double>{0.7, 0.8})[0], 1);
}

}  // namespace
}  // namespace kv::reports

#include "kvcheck/base/random/rng.h"

#include <cmath>
#include <limits>
#include <set>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/random/philox_many.h"

namespace kv {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known-answer vectors that the authors publish with their library (Random123, kat_vectors).
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Holds with probability 1 - 1e-9 for a uniform sample: Wilson and Hilferty's cube-root normal
// approximation of chi-square, at six standard deviations.
void expect_even(const std::vector<std::uint64_t>& counts) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const std::uint64_t count : counts) {
    chi_square += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  const double spread = 2 / (9 * freedom);
  EXPECT_LT(chi_square, freedom * std::pow(1 - spread + 6 * std::sqrt(spread), 3));
}

TEST(Rng, SmallBoundsAreEven) {
  const Rng rng(1);
  for (const std::uint64_t bound : {2U, 3U, 7U, 10U, 100U, 1000U}) {
    std::vector<std::uint64_t> counts(bound);
    for (Position position = 0; position < 200000; ++position) {
      ++counts.at(rng.below(bound, position));
    }
    expect_even(counts);
  }
}

TEST(Rng, ALargeBoundIsEvenWhereMultiplyingAloneIsNot) {
  // Of 2^64 words, 3 * 2^62 results leave a quarter over: without rejection the multiples of three
  // would come twice as often as the others.
  const Rng rng(2);
  std::vector<std::uint64_t> counts(3);
  for (Position position = 0; position < 100000; ++position) {
    ++counts.at(rng.below(std::uint64_t{3} << 62, position) % 3);
  }
  expect_even(counts);
}

TEST(Rng, BelowTakesTheFirstRoundThatIsNotRejected) {
  // By the definition: multiply to 128 bits, reject low halves below 2^64 mod bound, here almost
  // every second one.
  constexpr std::uint64_t bound = (std::uint64_t{1} << 63) + 1;
  constexpr std::uint64_t rejected = (std::uint64_t{1} << 63) - 1;
  __extension__ using Wide = unsigned __int128;
  const Rng rng(0x0123456789abcdef, 77);
  std::size_t retries = 0;
  for (Position position = 0; position < 2000; ++position) {
    std::uint64_t requested = 0;
    for (std::uint32_t round = 0;; ++round, ++retries) {
      const Words words = philox4x32({5, round, position, 77}, {0x89abcdef, 0x01234567});
      const Wide product = static_cast<Wide>(std::uint64_t{words[1]} << 32 | words[0]) * bound;
      requested = static_cast<std::uint64_t>(product >> 64);
      if (static_cast<std::uint64_t>(product) >= rejected) break;
    }
    ASSERT_EQ(rng.below(bound, position, 5), requested) << position;
    ASSERT_LT(requested, bound);
  }
  EXPECT_GT(retries, 1500U);
  EXPECT_LT(retries, 2500U);
}

TEST(Rng, ABoundOfOneLeavesNoChoice) {
  for (Position position = 0; position < 100; ++position) EXPECT_EQ(Rng(3).below(1, position), 0U);
}

TEST(RngDeathTest, ABoundOfZeroIsABug) {
  EXPECT_DEATH(static_cast<void>(Rng(3).below(0, 0)), "bound > 0");
}

TEST(Rng, TheUnitIntervalIsOpenForAllBits) {
  EXPECT_EQ(open_unit(0), 0x1p-53);
  EXPECT_EQ(open_unit(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_LT(open_unit(~std::uint64_t{0} << 12), 1.0);
  EXPECT_EQ(open_unit(std::uint64_t{1} << 63), 0.5 + 0x1p-53);
}

TEST(Rng, UniformsAreEven) {
  const Rng rng(4);
  std::vector<std::uint64_t> counts(1000);
  for (Position position = 0; position < 200000; ++position) {
    ++counts.at(static_cast<std::size_t>(rng.uniform(position) * 1000));
  }
  expect_even(counts);
}

TEST(Rng, NormalsHaveTheMomentsOfANormal) {
  const Rng rng(5);
  constexpr double n = 400000;
  double sums[5] = {};
  for (Position position = 0; position < 400000; ++position) {
    const double x = rng.normal(position);
    for (int power = 1; power <= 4; ++power) sums[power] += std::pow(x, power) / n;
  }
  // Six standard errors of each sample moment: var(x^k) = m(2k) - m(k)^2 = 1, 2, 15, 96.
  EXPECT_NEAR(sums[1], 0, 6 * std::sqrt(1 / n));
  EXPECT_NEAR(sums[2], 1, 6 * std::sqrt(2 / n));
  EXPECT_NEAR(sums[3], 0, 6 * std::sqrt(15 / n));
  EXPECT_NEAR(sums[4], 3, 6 * std::sqrt(96 / n));
}

TEST(Rng, EveryPartOfTheKeyMatters) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
    for (const std::uint32_t stream : {0U, 1U, 0x10000U}) {
      for (const Position position : {0U, 1U, 0xffffffffU}) {
        for (const std::uint32_t index : {0U, 1U, 0xffffffffU}) {
          seen.insert(Rng(seed, stream).bits(position, index));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 81U);
}

TEST(Rng, StreamsAreUncorrelated) {
  const Rng a(6, stream_of(0, 0));
  const Rng b(6, stream_of(0, 1));
  constexpr double n = 100000;
  double product = 0;
  for (Position p = 0; p < 100000; ++p) product += (a.uniform(p) - 0.5) * (b.uniform(p) - 0.5);
  EXPECT_NEAR(12 * product / n, 0, 6 / std::sqrt(n));
}

TEST(Rng, ADrawDoesNotDependOnThoseBefore) {
  const Rng rng(7);
  const std::uint64_t alone = rng.bits(9, 2);
  for (Position position = 0; position < 9; ++position) static_cast<void>(rng.below(5, position));
  EXPECT_EQ(rng.bits(9, 2), alone);
}

TEST(Rng, UnitsHaveStreamsOfTheirOwn) {
  EXPECT_NE(stream_of(1, 0), stream_of(0, 1));
  EXPECT_EQ(stream_of(65535, 65535), 0xffffffffU);
  EXPECT_DEATH(stream_of(65536, 0), "65536");
  EXPECT_DEATH(stream_of(0, 65536), "65536");
}

TEST(Rng, ARunOfPositionsHasTheBitsOfEach) {
  for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 32}) {
    for (const Position first : {0U, 1U, 77U, 0xfffffffeU}) {
      for (const std::uint32_t index : {0U, 3U}) {
        const Rng rng(seed, 5);
        const auto run = rng.bits_of_run(first, index);
        RunBits plain{};
        philox_run_plain({seed, 5, first, index}, plain);
        for (Position i = 0; i < run_of_positions; ++i) {
          EXPECT_EQ(run[i], rng.bits(first + i, index)) << seed << " " << first + i;
          EXPECT_EQ(plain[i], run[i]) << seed << " " << first + i;
        }
      }
    }
  }
}

// One after the other, back and forth, with leaps, at the end of all positions, and with rejections
// (bounds above 2^63).
TEST(CounterDraws, AreTheDrawsOfTheirGeneratorInAnyOrder) {
  const Rng rng(8, 3);
  const Rng order(9);
  CounterDraws draws(rng);
  Position position = 0;
  for (Position step = 0; step < 20000; ++step) {
    const std::uint64_t kind = order.below(10, step);
    if (kind == 0) position = static_cast<Position>(order.bits(step, 1));
    if (kind == 1) position -= static_cast<Position>(order.below(9, step, 2));
    if (kind == 2 && step % 7 == 0) position = 0xfffffff8U;
    const auto index = static_cast<std::uint32_t>(kind == 3 ? order.below(4, step, 3) : 0);
    const std::uint64_t bound = kind == 4 ? (std::uint64_t{1} << 63) + 1 : 1000;
    if (kind == 5) {
      ASSERT_EQ(draws.uniform(position, index), rng.uniform(position, index)) << position;
    } else {
      ASSERT_EQ(draws.below(bound, position, index), rng.below(bound, position, index)) << position;
    }
    ++position;
  }
}

TEST(Seeds, DifferByNameByThePublishedHash) {
  EXPECT_EQ(seed_for(0, ""), 0xCBF29CE484222325U);
  EXPECT_EQ(seed_for(0, "a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(seed_for(1, "a"), 0xAF63DC4C8601EC8DU);
  EXPECT_NE(seed_for(1, "random"), seed_for(1, "reservoir"));
}

}  // namespace
}  // namespace kv

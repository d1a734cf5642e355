// Exact laws: enumerated draws, the laws they must equal, and weighted ones.
#include "kvcheck/properties/sampling/exact.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kvcheck/properties/sampling/spec_sampler.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/statistics_samplers.h"
#include "kvcheck/tests/properties/weighted.h"

namespace kv::properties {
namespace {

ExactLaw law_of(const Shape& shape, const Decide& decide) {
  return enumerate(
      shape,
      [&](Draws& draws) {
        Replicate replicate;
        decide_all(shape, decide, draws, replicate);
        return replicate.kept;
      },
      100000);
}

TEST(Exact, AlgorithmRIsUniformInEveryTinyCase) {
  for (std::uint32_t n = 2; n <= 7; ++n) {
    for (std::uint32_t k = 1; k <= std::min(3U, n - 1); ++k) {
      const ExactLaw law = law_of({n, k}, algorithm_r());
      ASSERT_EQ(law.refusal, "");
      for (const Rational& share : law.subsets) EXPECT_EQ(share, Rational(1, law.subsets.size()));
    }
  }
}

TEST(Exact, TheSingleDrawHasItsLeaves) {
  // One draw j below t: 4 * 5 * 6 * 7 outcomes at n = 7, k = 3.
  const Decide textbook = [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return std::min(static_cast<std::uint32_t>(draws.below(t, t, 0)), k);
  };
  const ExactLaw law = law_of({7, 3}, textbook);
  EXPECT_EQ(law.runs, 840U);
  EXPECT_EQ(total_variation(law.subsets, exact_subsets(ChanceLaw::uniform, {7, 3})), 0);
}

TEST(Exact, BrokenSamplersDiffer) {
  const auto distance = [](const Shape& shape, const Decide& decide) {
    return total_variation(law_of(shape, decide).subsets, exact_subsets(ChanceLaw::uniform, shape));
  };
  EXPECT_GT(distance({4, 2}, dividing_by([](auto t, auto) { return t - 1; })), 0);
  EXPECT_GT(distance({4, 2}, dividing_by([](auto t, auto) { return t + 1; })), 0);
  EXPECT_GT(distance({4, 2}, any_of_all()), 0);
  // With one decision alone "one of k + 1" is uniform; that is why a ladder has more than one size.
  EXPECT_EQ(distance({3, 2}, any_of_all()), 0);
}

TEST(Exact, AgeLawsByEnumeration) {
  for (const Shape shape : {Shape{5, 2}, Shape{6, 3}}) {
    for (const auto& [law, decide] : {std::pair{ChanceLaw::geometric, any_of_all()},
                                      std::pair{ChanceLaw::admitting, any_elder()}}) {
      const ExactLaw found = law_of(shape, decide);
      EXPECT_EQ(total_variation(found.subsets, exact_subsets(law, shape)), 0);
      const auto inclusions_found = exact_inclusions(found.subsets, shape);
      for (std::uint32_t i = 0; i < shape.n; ++i) {
        EXPECT_NEAR(static_cast<double>(inclusions_found[i]), inclusion(law, shape, i), 1e-12);
      }
    }
  }
}

// A draw asked twice with the same key is the same number, seen more finely.
TEST(Exact, ReusedDrawsAreNotNewOnes) {
  Tape tape;
  Rational both = 0;
  Rational total = 0;
  const DrawsOf draws_of = tape.draws();
  while (tape.next()) {
    const auto draws = draws_of(0);
    const std::uint64_t half = draws->below(2, 7, 0);
    const std::uint64_t third = draws->below(3, 7, 0);
    EXPECT_EQ(draws->below(2, 7, 0), half);
    total += tape.probability();
    if (half == 0 && third == 0) both += tape.probability();
  }
  EXPECT_EQ(total, 1);
  EXPECT_EQ(both, Rational(1, 3));  // u < 1/3 implies u < 1/2
}

TEST(Exact, RealDrawsAreRefused) {
  const ExactLaw law = law_of({4, 2}, [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return draws.uniform(t, 0) < 0.5 ? 0U : k;
  });
  EXPECT_NE(law.refusal.find("real numbers"), std::string::npos);
  const ExactLaw wide = law_of({4, 2}, [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return static_cast<std::uint32_t>(draws.below(std::uint64_t{1} << 63, t, 0) % (k + 1));
  });
  EXPECT_NE(wide.refusal.find("too many"), std::string::npos);
}

TEST(Exact, OurReservoirAndThePrintedOne) {
  const auto distance = [](const char* text, ChanceLaw claimed) {
    const Spec spec = *parse_spec(text);
    SpecSampler sampler(spec, 8);
    const ExactLaw law = enumerate(
        sampler.shape(), [&](Draws& draws) { return sampler.kept_with(draws); }, 100000);
    EXPECT_EQ(law.refusal, "");
    return total_variation(law.subsets, exact_subsets(claimed, sampler.shape()));
  };
  EXPECT_EQ(distance("reservoir:sinks=1,recent=2,budget=5", ChanceLaw::uniform), 0);
  EXPECT_GT(distance("reservoir-as-printed:sinks=1,recent=2,budget=5", ChanceLaw::uniform), 0);
  EXPECT_EQ(distance("reservoir-as-printed:sinks=1,recent=2,budget=5", ChanceLaw::geometric), 0);
  EXPECT_EQ(distance("random:sinks=1,recent=2,budget=5", ChanceLaw::admitting), 0);
}

TEST(Weighted, EqualWeightsAreUniform) {
  for (const WeightedLaw law : {WeightedLaw::sequential, WeightedLaw::proportional}) {
    const std::vector<double> subsets = weighted_subsets(law, std::vector<double>(6, 2.5), 3);
    for (const double share : subsets) EXPECT_NEAR(share, 1.0 / 20, 1e-12);
  }
}

TEST(Weighted, LawsByHand) {
  // Two of {1, 2, 3}, one after the other: 1/6 * 2/5 + 2/6 * 1/4 for the first two.
  const std::vector<double> weights = {1, 2, 3};
  const std::vector<double> drawn = weighted_subsets(WeightedLaw::sequential, weights, 2);
  EXPECT_NEAR(drawn[0], 1.0 / 6 * 2 / 5 + 2.0 / 6 * 1 / 4, 1e-12);
  EXPECT_NEAR(std::accumulate(drawn.begin(), drawn.end(), 0.0), 1, 1e-12);
  // k w / sum w = 1/3, 2/3, 1.
  const std::vector<double> shares = proportional_inclusions(weights, 2);
  EXPECT_NEAR(shares[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(shares[2], 1.0, 1e-12);
  const std::vector<double> chao = weighted_subsets(WeightedLaw::proportional, weights, 2);
  EXPECT_NEAR(chao[1] + chao[0], 1.0 / 3, 1e-12);  // {0,2} and {0,1}
  EXPECT_NEAR(chao[0], 0, 1e-12);
}

// Sets of weighted samplers, tested against the law of their own and against the other's.
class WeightedSampler final : public Sampler {
 public:
  WeightedSampler(WeightedLaw law, std::vector<double> weights, std::uint32_t k)
      : law_(law),
        weights_(std::move(weights)),
        shape_{static_cast<std::uint32_t>(weights_.size()), k} {}

  [[nodiscard]] const Shape& shape() const override { return shape_; }

  Result<void> sample(std::uint64_t seed, Replicate& out) override {
    const Rng rng(seed);
    law_ == WeightedLaw::sequential ? largest_keys(rng, out.kept) : chao(rng, out.kept);
    std::ranges::sort(out.kept);
    return {};
  }

 private:
  // A-ES: the k largest ln(u) / w.
  void largest_keys(const Rng& rng, std::vector<std::uint32_t>& kept) const {
    std::vector<std::pair<double, std::uint32_t>> keys;
    for (std::uint32_t i = 0; i < shape_.n; ++i) {
      keys.emplace_back(-std::log(rng.uniform(i)) / weights_[i], i);
    }
    std::ranges::sort(keys);
    kept.clear();
    for (std::uint32_t i = 0; i < shape_.k; ++i) kept.push_back(keys[i].second);
  }

  // A-Chao where no weight is above its share: enters with k w / sum w, any elder goes.
  void chao(const Rng& rng, std::vector<std::uint32_t>& kept) const {
    kept.resize(shape_.k);
    std::iota(kept.begin(), kept.end(), 0U);
    double total = std::accumulate(weights_.begin(), weights_.begin() + shape_.k, 0.0);
    for (std::uint32_t i = shape_.k; i < shape_.n; ++i) {
      total += weights_[i];
      if (rng.uniform(i, 0) >= shape_.k * weights_[i] / total) continue;
      kept[rng.below(shape_.k, i, 1)] = i;
    }
  }

  WeightedLaw law_;
  std::vector<double> weights_;
  Shape shape_;
};

TEST(Weighted, SamplersFollowTheirOwnLawOnly) {
  // The first two are alike and no later one is above its share, so that Chao's plan is simple.
  const std::vector<double> weights = {1, 1, 1.2, 0.6, 1.5, 0.4};
  for (const WeightedLaw law : {WeightedLaw::sequential, WeightedLaw::proportional}) {
    WeightedSampler sampler(law, weights, 2);
    Counts counts(sampler.shape(), {.subsets = true});
    ASSERT_TRUE(collect(sampler, 11, 0, 40000, counts).has_value());
    for (const WeightedLaw other : {WeightedLaw::sequential, WeightedLaw::proportional}) {
      const double p = weighted_test(counts, weighted_subsets(other, weights, 2))->statistic.p;
      if (law == other) {
        EXPECT_GT(p, 1e-4);
      } else {
        EXPECT_LT(p, 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace kv::properties

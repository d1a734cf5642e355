// Activations against their formulas in long double, at sizes from those that vanish to those whose
// exponentials overflow.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/run/blocks.h"

namespace kv::model {
namespace {

using Long = long double;

Long expected_of(Activation activation, float value) {
  const Long x = value;
  switch (activation) {
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::gelu:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Long>);
    case Activation::gelu_tanh: {
      const Long inner = std::sqrt(2 / std::numbers::pi_v<Long>) * (x + 0.044715L * x * x * x);
      return x / (1 + std::exp(-2 * inner));
    }
    case Activation::relu:
      return x > 0 ? x : 0;
  }
  return x;
}

// Of all sizes from 2^-30 to 2^12, both signs.
std::vector<float> numbers() {
  std::vector<float> all = {0.0F, -0.0F};
  const Rng rng(5);
  for (Position i = 0; i < 3000; ++i) {
    const auto size = static_cast<float>(std::exp2(42 * rng.uniform(2 * i) - 30));
    all.push_back(rng.uniform(2 * i + 1) < 0.5 ? -size : size);
  }
  return all;
}

TEST(Activations, AreTheirFormulasToTheLastBits) {
  Team team(2, {.least_cost = 1});
  for (const Activation activation :
       {Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    const std::vector<float> from = numbers();
    std::vector<float> found = from;
    activate(activation, found, {}, team);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Long expected = expected_of(activation, from[i]);
      // GELU by erf is a sum with 1, so that its small values have an absolute error.
      const Long least = activation == Activation::gelu ? 1e-15L : 1e-44L;
      ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected),
                  static_cast<double>(std::fabs(expected) * 1.2e-7L + least))
          << static_cast<int>(activation) << " of " << from[i];
    }
  }
}

TEST(Activations, MultiplyByTheSecondFactorAndKeepNaNs) {
  Team team(1);
  std::vector<float> values(300, std::numeric_limits<float>::quiet_NaN());
  values[7] = 2;
  values[8] = std::numeric_limits<float>::infinity();
  const std::vector<float> by(300, 3);
  for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
    std::vector<float> found = values;
    activate(activation, found, by, team);
    EXPECT_NEAR(found[7], 3 * static_cast<float>(expected_of(activation, 2)), 1e-6);
    EXPECT_EQ(found[8], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_TRUE(std::isnan(found[299]));
  }
}

}  // namespace
}  // namespace kv::model

// Kernels against the scalar ones on numbers of all kinds: at every length to 70, at every address
// of a float, and with special numbers at every place of a row.
#include <cstring>
#include <limits>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

constexpr std::size_t longest = 70;

// The mixtures that are tried. Where most sums are infinite or NaN no rounding shows.
enum class Mixture { sizes, denormals, specials, negative_zeros };

constexpr std::array<Mixture, 4> mixtures = {Mixture::sizes, Mixture::denormals, Mixture::specials,
                                             Mixture::negative_zeros};

float number_of(Mixture mixture, const Rng& rng, std::size_t i) {
  const auto at = static_cast<Position>(i);
  const auto even = static_cast<float>(rng.uniform(at) - 0.5);
  switch (mixture) {
    case Mixture::sizes:
      return std::ldexp(even, static_cast<int>(rng.below(40, at, 1)) - 20);
    case Mixture::denormals:
      return std::ldexp(even, -130);
    case Mixture::specials:
      return rng.below(8, at, 1) == 0 ? specials.at(rng.below(specials.size(), at, 2)) : even;
    case Mixture::negative_zeros:
      return -0.0F;
  }
  return 0;
}

Values values_of(Mixture mixture, std::size_t n, std::size_t shift) {
  Values values(0, n, shift);
  const Rng rng(97 * n + shift);
  for (std::size_t i = 0; i < n; ++i) values.data()[i] = number_of(mixture, rng, i);
  return values;
}

class EveryLength : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernel_ = *GetParam();
};

// The numbers as they are stored, at any address, sign of NaNs included.
std::vector<std::byte> stored(const Values& values, Number number, std::size_t shift) {
  std::vector<std::byte> bytes(shift + values.size() * (number == Number::f32 ? 4 : 2));
  scalar().narrow(number, values.data(), values.size(), bytes.data() + shift);
  return bytes;
}

TEST_P(EveryLength, WidenedAndSummedNumbersOfAllKindsAreTheSame) {
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    for (const Mixture mixture : mixtures) {
      for (std::size_t n = 0; n <= longest; ++n) {
        for (std::size_t shift = 0; shift < 8; ++shift) {
          const std::vector<std::byte> bytes = stored(values_of(mixture, n, shift), number, shift);
          Values requested(2, n, shift);
          Values found(2, n, shift);
          scalar().widen(number, bytes.data() + shift, n, requested.data());
          const RowSum row =
              kernel_.widen_and_sum(number, bytes.data() + shift, n, 64 * shift, found.data());
          ASSERT_TRUE(same_all(found, requested)) << n;
          ASSERT_TRUE(same(row.sum, scalar().sum(requested.data(), n))) << n;
          ASSERT_EQ(row.any_sign, scalar().any_sign(requested.data(), n)) << n;
        }
      }
    }
  }
}

// The order of the sum, written down apart from the kernels: 64 lanes are folded to 16, and these
// to 8, 4, 2 and 1.
float sum_by_definition(const float* values, std::size_t n) {
  std::vector<float> lanes(64, 0.0F);
  for (std::size_t i = 0; i < n; ++i) lanes[i % 64] += values[i];
  std::vector<float> sixteen(16);
  for (std::size_t i = 0; i < 16; ++i) {
    sixteen[i] = (lanes[i] + lanes[i + 16]) + (lanes[i + 32] + lanes[i + 48]);
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sixteen[i] += sixteen[i + half];
  }
  return sixteen[0];
}

TEST_P(EveryLength, SumsAreAddedInTheOrderThatIsDefined) {
  for (const Mixture mixture : mixtures) {
    for (std::size_t n = 0; n <= 3 * longest; ++n) {
      for (std::size_t shift = 0; shift < 16; shift += 5) {
        const Values values = values_of(mixture, n, shift);
        const float requested = sum_by_definition(values.data(), n);
        ASSERT_TRUE(same(kernel_.sum(values.data(), n), requested)) << n;
        std::vector<float> wide(n);
        const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
        const RowSum row = kernel_.widen_and_sum(Number::f32, bytes, n, 0, wide.data());
        ASSERT_TRUE(same(row.sum, requested)) << n;
      }
    }
  }
}

// A sign at any place, that of a NaN and of -0 included, and none behind the end.
TEST_P(EveryLength, ASignShowsAtEveryPlace) {
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    for (const float special :
         {-0.0F, -limits::quiet_NaN(), -limits::infinity(), -limits::denorm_min(), -1.0F}) {
      for (std::size_t n = 1; n <= longest; ++n) {
        Values values(0, n + 1, 0);
        for (std::size_t i = 0; i <= n; ++i) {
          std::fill_n(values.data(), n + 1, 1.0F);
          values.data()[i] = special;
          const std::vector<std::byte> bytes = stored(values, number, 1);
          std::vector<float> wide(n);
          ASSERT_EQ(kernel_.widen_and_sum(number, bytes.data() + 1, n, 0, wide.data()).any_sign,
                    i < n)
              << i << " of " << n;
          ASSERT_EQ(kernel_.any_sign(values.data(), n), i < n) << i << " of " << n;
        }
      }
    }
  }
}

// Logits that differ by just what makes an exponential 0, by more than a float holds, or by
// nothing.
TEST_P(EveryLength, ProbabilitiesOfLogitsOfAllKindsAreTheSame) {
  constexpr std::array<float, 12> logits = {0.0F,       -0.0F,
                                            -87.0F,     -0x1.5c0002p6F,
                                            -86.99999F, -88.0F,
                                            -104.0F,    limits::denorm_min(),
                                            -1e-40F,    limits::lowest(),
                                            -1e-7F,     87.0F};
  for (std::size_t n = 1; n <= longest; ++n) {
    for (std::size_t shift = 0; shift < 16; ++shift) {
      for (const bool special : {true, false}) {
        Values requested(n, n, shift);
        const Rng rng(31 * n + shift);
        for (std::size_t i = 0; i < n && special; ++i) {
          const auto at = static_cast<Position>(i);
          requested.data()[i] = logits.at(rng.below(logits.size() - shift % 2, at));
        }
        Values found = requested;
        const double log_sum = scalar().softmax(requested.data(), n);
        ASSERT_TRUE(same(kernel_.softmax(found.data(), n), log_sum)) << n;
        ASSERT_EQ(found.bits(), requested.bits()) << n;
      }
    }
  }
}

// The largest logit, on which all depends, at every place.
TEST_P(EveryLength, TheLargestLogitIsFoundAtEveryPlace) {
  for (std::size_t n = 1; n <= longest; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      Values found(0, n, at % 16);
      std::fill_n(found.data(), n, -100.0F);
      found.data()[at] = 3;
      ASSERT_EQ(kernel_.softmax(found.data(), n), 3.0) << at << " of " << n;
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(found.data()[i], i == at ? 1.0F : 0.0F) << n;
    }
  }
}

// Arguments at the ends of what the kernels take, at every place. -708 is the least that has an
// exponential.
TEST_P(EveryLength, ExponentialsAndLogarithmsAtTheEndsAreTheSame) {
  using doubles = std::numeric_limits<double>;
  for (const double special :
       {0.0, -0.0, -708.0, -708.0000000000001, -707.9999999999999, -doubles::infinity(),
        doubles::lowest(), -doubles::denorm_min(), -doubles::min(), -0x1p-54}) {
    for (std::size_t n = 1; n <= longest; ++n) {
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<double> requested(n + 8, -1.5);
        requested[at] = special;
        std::vector<double> found = requested;
        scalar().exp_each(requested.data(), n);
        kernel_.exp_each(found.data(), n);
        ASSERT_TRUE(same_all(found, requested)) << special << ", " << at << " of " << n;
        const double right = special < -708 ? 0 : std::exp(special);
        ASSERT_NEAR(found[at], right, 4 * right * 0x1p-52) << special;
      }
    }
  }
  for (const double special : {doubles::min(), doubles::max(), 1.0, 1 - 0x1p-53, 1 + 0x1p-52,
                               0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1}) {
    for (std::size_t n = 1; n <= longest; ++n) {
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<double> requested(n + 8, 2.5);
        requested[at] = special;
        std::vector<double> found = requested;
        scalar().log_each(requested.data(), n);
        kernel_.log_each(found.data(), n);
        ASSERT_TRUE(same_all(found, requested)) << special << ", " << at << " of " << n;
      }
    }
  }
}

TEST_P(EveryLength, TheSmallestIsNoNaNUnlessAllAre) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t n = 1; n <= 70; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      Values values(n, n);
      std::fill_n(values.data(), n, nan);
      ASSERT_EQ(kernel_.argmin(values.data(), n), 0U) << n;
      values.data()[at] = 5;
      ASSERT_EQ(kernel_.argmin(values.data(), n), at) << n;
      std::vector<double> wide(values.data(), values.data() + n);
      ASSERT_EQ(kernel_.argmin_double(wide.data(), n), at) << n;
      for (std::size_t i = 0; i < n; ++i)
        wide[i] = i == at ? nan : 1.0 / static_cast<double>(i + 1);
      ASSERT_EQ(kernel_.argmin_double(wide.data(), n), n > 1 && at == n - 1 ? n - 2 : n - 1) << n;
    }
  }
}

TEST_P(EveryLength, ASoftmaxWithANaNIsNaN) {
  for (std::size_t n = 1; n <= 40; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      Values logits(n, n);
      logits.data()[at] = std::numeric_limits<float>::quiet_NaN();
      kernel_.softmax(logits.data(), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(logits.data()[i])) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machine,
                         EveryLength,
                         testing::ValuesIn(supported_kernels().begin(), supported_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

}  // namespace
}  // namespace kv

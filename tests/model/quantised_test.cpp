// Quantised weights: the codes and their levels, the kernels bit for bit, right against a
// double-precision oracle (Eigen).
#include "kvcheck/model/kernels/quantised.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {
namespace {

using Floats = std::vector<float>;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::array kinds = {Quantisation::int8, Quantisation::nf4};

Floats normal_draws(std::size_t count, std::uint64_t seed) {
  const Rng rng(seed);
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return values;
}

struct Coded {
  std::vector<std::byte> codes;
  Floats scales;
  QuantisedRows rows;
};

Coded coded(Quantisation kind, const Floats& weights, std::size_t columns) {
  const std::size_t rows = weights.size() / columns;
  const std::size_t bytes = code_bytes(kind, columns);
  const std::size_t scales = scales_of_row(kind, columns);
  Coded result{std::vector<std::byte>(rows * bytes), Floats(rows * scales), {}};
  for (std::size_t r = 0; r < rows; ++r) {
    quantise_row(kind, std::span(weights).subspan(r * columns, columns),
                 result.codes.data() + r * bytes, result.scales.data() + r * scales);
  }
  result.rows = {kind, result.codes.data(), result.scales.data(), rows, columns};
  return result;
}

// What the codes stand for, worked out here and in double: code times scale.
Doubles meaning(const QuantisedRows& rows) {
  Doubles result(rows.rows, rows.columns);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t c = 0; c < rows.columns; ++c) {
      const std::size_t pairs = (rows.columns + 1) / 2;
      double level = 0;
      double scale = 0;
      if (rows.kind == Quantisation::int8) {
        level = static_cast<std::int8_t>(rows.codes[r * rows.columns + c]);
        scale = static_cast<double>(rows.scales[r]);
      } else {
        const auto pair = static_cast<unsigned>(rows.codes[r * pairs + c / 2]);
        level = static_cast<double>(nf4_levels.at(c % 2 == 0 ? pair % 16 : pair / 16));
        scale = static_cast<double>(rows.scales[r * ((rows.columns + 63) / 64) + c / 64]);
      }
      result(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = level * scale;
    }
  }
  return result;
}

Doubles doubles(const Floats& values, std::size_t columns) {
  return Eigen::Map<const FloatRows>(values.data(),
                                     static_cast<Eigen::Index>(values.size() / columns),
                                     static_cast<Eigen::Index>(columns))
      .cast<double>();
}

TEST(Quantised, ProductsAreTheSameBitsAtEveryLengthAndRight) {
  const ModelKernels& scalar = *supported_model_kernels().back();
  ASSERT_EQ(scalar.name, "scalar");
  for (std::size_t columns = 1; columns <= 257; ++columns) {
    const std::size_t rows = 1 + columns % 14;
    const std::size_t tokens = 1 + columns % 7;
    const Floats x = normal_draws(tokens * columns, columns);
    for (const Quantisation kind : kinds) {
      const Coded weights = coded(kind, normal_draws(rows * columns, 1000 + columns), columns);
      const auto multiplied = [&](const ModelKernels& table) {
        Floats wide(tokens * (rows + 1), -1);  // with room for one more row of weights
        table.multiply_quantised(weights.rows, x.data(), tokens, rows + 1, wide.data());
        Floats out;
        for (std::size_t i = 0; i < wide.size(); ++i) {
          if (i % (rows + 1) < rows) {
            out.push_back(wide[i]);
          } else {
            EXPECT_EQ(wide[i], -1);
          }
        }
        return out;
      };
      const Floats expected = multiplied(scalar);
      for (const ModelKernels* table : supported_model_kernels()) {
        ASSERT_EQ(multiplied(*table), expected) << table->name << " " << columns;
      }
      const Doubles right = doubles(x, columns) * meaning(weights.rows).transpose();
      ASSERT_LE((doubles(expected, rows) - right).cwiseAbs().maxCoeff(),
                2e-5 * (1 + right.cwiseAbs().maxCoeff()))
          << columns;
    }
  }
}

// Products that underflow leave -0 in every lane, and the padding of the last sixteen makes it 0.
TEST(Quantised, RowsArePaddedWithZeros) {
  for (std::size_t columns = 1; columns <= 65; ++columns) {
    for (const std::size_t tokens : {1U, 5U}) {
      const Floats x(tokens * columns, 1e-30F);
      const Coded weights = coded(Quantisation::nf4, Floats(7 * columns, -1e-30F), columns);
      for (const ModelKernels* table : supported_model_kernels()) {
        Floats out(tokens * 7, 1);
        table->multiply_quantised(weights.rows, x.data(), tokens, 7, out.data());
        for (const float sum : out) {
          ASSERT_EQ(sum, 0);
          ASSERT_EQ(std::signbit(sum), columns % 16 == 0) << table->name << " " << columns;
        }
      }
    }
  }
}

TEST(Quantised, CodesAreTheNearest) {
  constexpr std::size_t columns = 200;
  const Floats weights = normal_draws(5 * columns, 3);
  const Coded bytes = coded(Quantisation::int8, weights, columns);
  const Coded halves = coded(Quantisation::nf4, weights, columns);
  EXPECT_EQ(bytes.codes.size(), weights.size());
  EXPECT_EQ(halves.codes.size(), weights.size() / 2);
  EXPECT_EQ(halves.scales.size(), 5U * 4);
  const Doubles by_byte = meaning(bytes.rows);
  const Doubles by_half = meaning(halves.rows);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i / columns);
    const auto column = static_cast<Eigen::Index>(i % columns);
    const auto weight = static_cast<double>(weights[i]);
    const auto step = static_cast<double>(bytes.scales[i / columns]);
    EXPECT_LE(std::fabs(by_byte(row, column) - weight), step * 0.5000001);
    const auto scale = static_cast<double>(halves.scales[i / columns * 4 + i % columns / 64]);
    double nearest = 9;
    for (const float level : nf4_levels) {
      nearest = std::min(nearest, std::fabs(static_cast<double>(level) * scale - weight));
    }
    EXPECT_NEAR(std::fabs(by_half(row, column) - weight), nearest, 1e-12);
  }
}

TEST(Quantised, TheLargestIsExactAndZerosStayZero) {
  Floats weights(130, 0);
  weights[70] = -3;
  weights[71] = 1.5F;
  Floats read(weights.size());
  const Coded halves = coded(Quantisation::nf4, weights, weights.size());
  EXPECT_EQ(halves.scales, (Floats{0, 3, 0}));
  widen_codes(halves.rows, 0, read.data());
  EXPECT_EQ(read[70], -3);
  read[70] = read[71] = 0;
  EXPECT_EQ(read, Floats(weights.size(), 0));
  const Coded bytes = coded(Quantisation::int8, weights, weights.size());
  widen_codes(bytes.rows, 0, read.data());
  EXPECT_EQ(read[70], -127);
  EXPECT_EQ(read[71], 64);  // 63.5 lies between 63 and 64, and 64 is even
  EXPECT_EQ(coded(Quantisation::int8, Floats(9, 0), 9).scales, Floats{0});
}

// x with P(normal <= x) = p, by bisection.
double quantile(double p) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  return low;
}

// Eight quantiles above zero and seven below, evenly spaced in probability, over the largest.
TEST(Quantised, LevelsAreThoseOfANormalDistribution) {
  const double last = (1.0 - 1.0 / 32 + 1.0 - 1.0 / 30) / 2;
  std::vector<double> levels = {0};
  for (int i = 0; i < 8; ++i) levels.push_back(quantile(last + (0.5 - last) * i / 8));
  for (int i = 0; i < 7; ++i) levels.push_back(-quantile(last + (0.5 - last) * i / 7));
  std::ranges::sort(levels);
  for (std::size_t i = 0; i < nf4_levels.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(nf4_levels[i]), levels[i] / quantile(last), 1e-6) << i;
  }
}

}  // namespace
}  // namespace kv::model

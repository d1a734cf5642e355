// The decoder's kernels: bit for bit the scalar ones at every length, and right against a
// double-precision oracle (Eigen).
#include <Eigen/Dense>
#include <bit>
#include <cmath>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/sim/cache/slots.h"

namespace kv::model {
namespace {

using Numbers = std::vector<float>;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::array<Number, 3> all_numbers = {Number::f32, Number::f16, Number::bf16};

Numbers draws(std::size_t count, std::uint64_t seed) {
  const Rng rng(seed);
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return values;
}

// The values as stored, and what is then read back.
struct Stored {
  std::vector<std::byte> bytes;
  Numbers read;
};

Stored stored(const Numbers& values, Number number) {
  Stored result;
  const std::size_t size = number == Number::f32 ? 4 : 2;
  result.bytes.resize(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t half =
        number == Number::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
    const void* from = number == Number::f32 ? static_cast<const void*>(&values[i]) : &half;
    std::memcpy(result.bytes.data() + i * size, from, size);
  }
  result.read.resize(values.size());
  kernels().widen(number, result.bytes.data(), values.size(), result.read.data());
  return result;
}

RowMatrix oracle(const Numbers& values, std::size_t rows, std::size_t columns) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats>(values.data(), static_cast<Eigen::Index>(rows),
                                  static_cast<Eigen::Index>(columns))
      .cast<double>();
}

void expect_near(const Numbers& found, const RowMatrix& expected) {
  const RowMatrix difference = oracle(found, static_cast<std::size_t>(expected.rows()),
                                      static_cast<std::size_t>(expected.cols())) -
                               expected;
  EXPECT_LE(difference.cwiseAbs().maxCoeff(), 2e-5 * (1 + expected.cwiseAbs().maxCoeff()));
}

Numbers multiplied(const ModelKernels& table,
                   Number number,
                   const Stored& weights,
                   const Numbers& x,
                   std::size_t columns) {
  const std::size_t rows = weights.read.size() / columns;
  const std::size_t tokens = x.size() / columns;
  // Room for two rows of other weights follows each token's outputs.
  const std::size_t stride = rows + 2;
  Numbers wide(tokens * stride, -1);
  table.multiply({number, weights.bytes.data(), rows, columns}, x.data(), tokens, stride,
                 wide.data());
  Numbers out;
  for (std::size_t t = 0; t < tokens; ++t) {
    const auto at = wide.begin() + static_cast<std::ptrdiff_t>(t * stride);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(rows));
    EXPECT_EQ(wide[t * stride + rows], -1) << "written past the rows";
    EXPECT_EQ(wide[t * stride + rows + 1], -1) << "written past the rows";
  }
  return out;
}

TEST(ModelKernels, ExistForEveryKindOfMachine) {
  const std::span<const ModelKernels* const> tables = supported_model_kernels();
  ASSERT_EQ(tables.size(), supported_kernels().size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const bool last = i + 1 == tables.size();
    EXPECT_EQ(tables[i]->name, supported_kernels()[i]->name);
    EXPECT_EQ(tables[i]->multiply == tables.back()->multiply, last);
    EXPECT_EQ(tables[i]->multiply_quantised == tables.back()->multiply_quantised, last);
    EXPECT_EQ(tables[i]->logits == tables.back()->logits, last);
    EXPECT_EQ(tables[i]->weigh == tables.back()->weigh, last);
  }
  EXPECT_EQ(model_kernels().name, kernels().name);
}

// The last bit of each exact product is left, which a rounded product would have lost.
TEST(ModelKernels, FuseProductsIntoTheirSums) {
  constexpr float factor = 1 + 0x1p-12F;
  constexpr float rounded = 1 + 0x1p-11F;
  ASSERT_EQ(factor * factor, rounded);
  Numbers x(33, factor);
  Numbers row(33, factor);
  std::fill_n(x.begin(), 16, 1.0F);
  std::fill_n(row.begin(), 16, -rounded);
  x[32] = 0;
  for (const ModelKernels* table : supported_model_kernels()) {
    EXPECT_EQ(multiplied(*table, Number::f32, stored(row, Number::f32), x, 33), Numbers{0x1p-20F})
        << table->name;
  }
}

// Products that underflow leave -0 in every lane, and the padding of the last sixteen makes it 0.
TEST(ModelKernels, PadVectorsWithZeros) {
  for (std::size_t columns = 1; columns <= 65; ++columns) {
    for (const std::size_t tokens : {1U, 5U, 33U}) {
      const Numbers x(tokens * columns, -1e-30F);
      const Stored weights = stored(Numbers(7 * columns, 1e-30F), Number::f32);
      for (const ModelKernels* table : supported_model_kernels()) {
        for (const float sum : multiplied(*table, Number::f32, weights, x, columns)) {
          ASSERT_EQ(sum, 0);
          ASSERT_EQ(std::signbit(sum), columns % 16 == 0) << table->name << " " << columns;
        }
      }
    }
  }
}

TEST(ModelKernels, ProductsAreTheSameBitsAtEveryLength) {
  const ModelKernels& scalar = *supported_model_kernels().back();
  ASSERT_EQ(scalar.name, "scalar");
  for (std::size_t columns = 1; columns <= 257; ++columns) {
    const std::size_t rows = 1 + columns % 14;
    const std::size_t tokens = columns % 5 == 0 ? 34 : 1 + columns % 7;
    const Numbers x = draws(tokens * columns, columns);
    for (const Number number : all_numbers) {
      const Stored weights = stored(draws(rows * columns, 1000 + columns), number);
      const Numbers expected = multiplied(scalar, number, weights, x, columns);
      for (const ModelKernels* table : supported_model_kernels()) {
        ASSERT_EQ(multiplied(*table, number, weights, x, columns), expected)
            << table->name << " " << columns;
      }
      expect_near(expected,
                  oracle(x, tokens, columns) * oracle(weights.read, rows, columns).transpose());
    }
  }
}

// Slots that jump about, as after evictions.
std::vector<Slot> scattered(std::size_t count) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < count; ++i) slots.push_back(static_cast<Slot>(i * 97 % 263));
  return slots;
}

struct Attended {
  Numbers logits;
  Numbers out;

  bool operator==(const Attended&) const = default;
};

Attended attended(const ModelKernels& table,
                  const SlotRows& keys,
                  const SlotRows& values,
                  const Numbers& queries) {
  const std::size_t heads = queries.size() / keys.dim;
  Attended result{Numbers(heads * keys.count, -1), Numbers(queries.size(), -1)};
  table.logits(keys, queries.data(), heads, 0.25F, keys.count, result.logits.data());
  table.weigh(values, result.logits.data(), heads, keys.count, result.out.data());
  return result;
}

TEST(ModelKernels, AttentionOverScatteredSlotsIsTheSameBitsAtEveryLength) {
  constexpr std::size_t slots = 263;
  const ModelKernels& scalar = *supported_model_kernels().back();
  for (std::size_t count = 1; count <= 257; ++count) {
    const std::size_t heads = 1 + count % 6;
    const std::size_t dim = count % 3 == 0 ? 64 : 1 + count * 5 % 130;
    const std::vector<Slot> at = scattered(count);
    const Numbers queries = draws(heads * dim, count);
    const Number number = all_numbers[count % 3];
    const Stored keys = stored(draws(slots * dim, 2000 + count), number);
    const Stored values = stored(draws(slots * dim, 4000 + count), number);
    const auto storage = static_cast<Storage>(number);
    const SlotRows key_rows{storage, keys.bytes.data(), dim, at.data(), count};
    const SlotRows value_rows{storage, values.bytes.data(), dim, at.data(), count};
    const Attended expected = attended(scalar, key_rows, value_rows, queries);
    for (const ModelKernels* table : supported_model_kernels()) {
      ASSERT_EQ(attended(*table, key_rows, value_rows, queries), expected)
          << table->name << " " << count << " rows of " << dim;
    }
    RowMatrix k(count, dim);
    RowMatrix v(count, dim);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      k.row(row) = oracle(keys.read, slots, dim).row(at[i]);
      v.row(row) = oracle(values.read, slots, dim).row(at[i]);
    }
    expect_near(expected.logits, 0.25 * oracle(queries, heads, dim) * k.transpose());
    expect_near(expected.out, oracle(expected.logits, heads, count) * v);
  }
}

}  // namespace
}  // namespace kv::model

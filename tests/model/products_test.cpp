// Products with weights of every kind: each number of rows meets each number of tokens, below and
// beyond the tiles of all kernels, at widths that are no multiples of sixteen too. A product does
// not depend on its neighbours, so the scalar kernel computes all of them once.
#include <bit>
#include <cstring>
#include <functional>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv::model {
namespace {

// Twice the largest tile of rows (6) and of tokens (4), and one more.
constexpr std::size_t most_rows = 13;
constexpr std::size_t most_tokens = 9;
// From 32 tokens on all rows are widened (model_kernels_avx512.cpp).
constexpr std::array<std::size_t, 4> many_tokens = {31, 32, 33, 37};
constexpr std::size_t room = 37;
constexpr std::array<std::size_t, 12> widths = {1, 2, 7, 15, 16, 17, 31, 33, 48, 70, 100, 130};

// Calls a kernel for the first rows of some weights and the first tokens of x.
using Multiply = std::function<void(const ModelKernels& table,
                                    std::size_t rows,
                                    const float* x,
                                    std::size_t tokens,
                                    std::size_t stride,
                                    float* out)>;

std::uint32_t bits_of(float number) {
  return std::bit_cast<std::uint32_t>(number);
}

void expect_agreement(const Multiply& multiply, std::size_t columns, std::size_t rows_step) {
  // Not aligned to more than a float, as slices of weights and activations are.
  const std::vector<float> numbers = some_normals(1 + room * columns, columns);
  const float* x = numbers.data() + 1;
  std::vector<float> expected(room * most_rows);
  multiply(*supported_model_kernels().back(), most_rows, x, room, most_rows, expected.data());
  const auto meet = [&](const ModelKernels& table, std::size_t rows, std::size_t tokens) {
    const std::size_t stride = rows + 2;
    std::vector<float> found(tokens * stride, untouched);
    multiply(table, rows, x, tokens, stride, found.data());
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t r = 0; r < stride; ++r) {
        ASSERT_EQ(bits_of(found[t * stride + r]),
                  bits_of(r < rows ? expected[t * most_rows + r] : untouched))
            << table.name << ": row " << r << " of " << rows << ", token " << t << " of " << tokens
            << ", width " << columns;
      }
    }
  };
  for (const ModelKernels* table : supported_model_kernels()) {
    for (std::size_t rows = 1; rows <= most_rows; ++rows) {
      for (std::size_t tokens = 1; tokens <= most_tokens; ++tokens) {
        ASSERT_NO_FATAL_FAILURE(meet(*table, rows, tokens));
      }
    }
    for (std::size_t rows = 1; rows <= most_rows; rows += rows_step) {
      for (const std::size_t tokens : many_tokens) {
        ASSERT_NO_FATAL_FAILURE(meet(*table, rows, tokens));
      }
    }
  }
}

TEST(Products, OfEveryNumberOfRowsAndTokensAreTheSameBits) {
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    const std::size_t size = number == Number::f32 ? 4 : 2;
    for (const std::size_t columns : widths) {
      const std::vector<float> weights = some_normals(most_rows * columns, 1000 + columns);
      std::vector<std::byte> bytes((1 + weights.size()) * size);
      supported_kernels().back()->narrow(number, weights.data(), weights.size(),
                                         bytes.data() + size);
      const Multiply multiply = [&](const ModelKernels& table, std::size_t rows, const float* x,
                                    std::size_t tokens, std::size_t stride, float* out) {
        table.multiply({number, bytes.data() + size, rows, columns}, x, tokens, stride, out);
      };
      ASSERT_NO_FATAL_FAILURE(expect_agreement(multiply, columns, 2)) << number_name(number);
    }
  }
}

// int8 and nf4 at any width; the last block of 64 weights of nf4 is shorter, and so is its last
// byte.
TEST(Products, OfQuantisedRowsAreTheSameBits) {
  for (const Quantisation kind : {Quantisation::int8, Quantisation::nf4}) {
    for (const std::size_t columns : widths) {
      const std::vector<float> weights = some_normals(most_rows * columns, 2000 + columns);
      const std::size_t code_size = code_bytes(kind, columns);
      const std::size_t scale_count = scales_of_row(kind, columns);
      std::vector<std::byte> codes(1 + most_rows * code_size);
      std::vector<float> scales(most_rows * scale_count);
      for (std::size_t r = 0; r < most_rows; ++r) {
        quantise_row(kind, std::span(weights).subspan(r * columns, columns),
                     codes.data() + 1 + r * code_size, scales.data() + r * scale_count);
      }
      const Multiply multiply = [&](const ModelKernels& table, std::size_t rows, const float* x,
                                    std::size_t tokens, std::size_t stride, float* out) {
        table.multiply_quantised({kind, codes.data() + 1, scales.data(), rows, columns}, x, tokens,
                                 stride, out);
      };
      ASSERT_NO_FATAL_FAILURE(expect_agreement(multiply, columns, 2))
          << (kind == Quantisation::nf4 ? "nf4" : "int8");
    }
  }
}

// Blocks of any bytes, but for scales that are infinite or NaN.
std::vector<std::byte> blocks_of(Quantisation kind, std::size_t blocks) {
  const Rng rng(4);
  const BlockSize size = block_size(kind);
  std::vector<std::byte> bytes(blocks * size.bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(rng.below(256, static_cast<Position>(i)));
  }
  const bool at_end = kind == Quantisation::q6_k;
  const bool two = kind == Quantisation::q4_k || kind == Quantisation::q5_k;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::byte* scale = bytes.data() + block * size.bytes + (at_end ? size.bytes - 2 : 0);
    scale[1] &= std::byte{0xBF};
    if (two) scale[3] &= std::byte{0xBF};
  }
  return bytes;
}

TEST(Products, OfRowsOfBlocksAreTheSameBits) {
  for (const Quantisation kind : {Quantisation::q8_0, Quantisation::q4_0, Quantisation::q4_k,
                                  Quantisation::q5_k, Quantisation::q6_k}) {
    for (const std::size_t blocks : {1U, 2U}) {
      const std::size_t columns = blocks * block_size(kind).weights;
      const std::vector<std::byte> codes = blocks_of(kind, most_rows * blocks);
      const Multiply multiply = [&](const ModelKernels& table, std::size_t rows, const float* x,
                                    std::size_t tokens, std::size_t stride, float* out) {
        table.multiply_quantised({kind, codes.data(), nullptr, rows, columns}, x, tokens, stride,
                                 out);
      };
      ASSERT_NO_FATAL_FAILURE(expect_agreement(multiply, columns, 6)) << static_cast<int>(kind);
    }
  }
}

// Infinities and NaNs among weights and tokens reach their own row and token, and no others; where
// they do, every kernel has a NaN or the same infinity.
TEST(Products, OfInfinitiesAndNansReachTheirRowsAndTokensAlone) {
  for (const std::size_t columns : {5U, 16U, 33U}) {
    for (std::size_t at = 0; at < columns; ++at) {
      std::vector<float> weights = some_normals(7 * columns, 1);
      std::vector<float> x = some_normals(5 * columns, 2);
      for (float& number : weights) number = std::abs(number);
      for (float& number : x) number = std::abs(number);
      weights[2 * columns + at] = limits::infinity();
      x[4 * columns + at] = limits::quiet_NaN();
      for (const ModelKernels* table : supported_model_kernels()) {
        std::vector<float> out(std::size_t{5} * 7);
        table->multiply(
            {Number::f32, reinterpret_cast<const std::byte*>(weights.data()), 7, columns}, x.data(),
            5, 7, out.data());
        for (std::size_t i = 0; i < out.size(); ++i) {
          ASSERT_EQ(std::isnan(out[i]), i / 7 == 4) << table->name << " " << i << " " << columns;
          ASSERT_EQ(std::isinf(out[i]), i / 7 != 4 && i % 7 == 2) << table->name << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv::model

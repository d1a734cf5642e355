// Quantised weights of GGUF files: their meaning against the formats' definitions written out here,
// and the kernels bit for bit. tests/model/gguf_model_test.cpp compares whole models with NumPy.
#include "kvcheck/model/kernels/block_codes.h"

#include <array>
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {
namespace {

using Floats = std::vector<float>;

constexpr std::array kinds = {Quantisation::q8_0, Quantisation::q4_0, Quantisation::q4_k,
                              Quantisation::q5_k, Quantisation::q6_k};

// Random blocks whose scales are numbers: any byte but an exponent of all ones is right.
std::vector<std::byte> random_blocks(Quantisation kind, std::size_t blocks, std::uint64_t seed) {
  const Rng rng(seed);
  const BlockSize size = block_size(kind);
  std::vector<std::byte> bytes(blocks * size.bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(rng.below(256, static_cast<Position>(i)));
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    std::byte* at = bytes.data() + block * size.bytes;
    const bool two = kind == Quantisation::q4_k || kind == Quantisation::q5_k;
    const std::size_t first = kind == Quantisation::q6_k ? 208 : 0;
    for (std::size_t half = 0; half < (two ? 2 : 1); ++half) {
      // Exponents 8 to 15 of the sixteen-bit number: 2^-7 to 2.
      std::byte& top = at[first + 2 * half + 1];
      top = (top & std::byte{0x9F}) | std::byte{0x20};
    }
  }
  return bytes;
}

unsigned at(const std::byte* bytes, std::size_t i) {
  return static_cast<unsigned>(bytes[i]);
}

double half(const std::byte* bytes, std::size_t i) {
  const unsigned bits = at(bytes, i) | at(bytes, i + 1) << 8U;
  const double magnitude =
      std::ldexp(1024.0 + (bits & 1023U), static_cast<int>(bits >> 10U & 31U) - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

// Weight i of a block.
double meaning(Quantisation kind, const std::byte* b, std::size_t i) {
  if (kind == Quantisation::q8_0) {
    const int code = static_cast<int>(at(b, 2 + i));
    return half(b, 0) * (code < 128 ? code : code - 256);
  }
  if (kind == Quantisation::q4_0) {
    const unsigned code = i < 16 ? at(b, 2 + i) % 16 : at(b, 2 + i - 16) / 16;
    return half(b, 0) * (static_cast<double>(code) - 8);
  }
  if (kind == Quantisation::q6_k) {
    const std::size_t n = i / 128;
    const std::size_t l = i % 32;
    const std::size_t part = i % 128 / 32;  // q1 to q4 of the source
    const unsigned low = at(b, 64 * n + l + (part % 2 == 1 ? 32 : 0));
    const unsigned four = part < 2 ? low % 16 : low / 16;
    const unsigned two = at(b, 128 + 32 * n + l) / (1U << (2 * part)) % 4;
    const int scale = static_cast<int>(at(b, 192 + 8 * n + 2 * part + l / 16));
    return half(b, 208) * (scale < 128 ? scale : scale - 256) *
           (static_cast<double>(16 * two + four) - 32);
  }
  const std::size_t j = i / 32;
  const bool five = kind == Quantisation::q5_k;
  const unsigned scale = j < 4 ? at(b, 4 + j) % 64 : at(b, 8 + j) % 16 + at(b, j) / 64 * 16;
  const unsigned least = j < 4 ? at(b, 8 + j) % 64 : at(b, 8 + j) / 16 + at(b, 4 + j) / 64 * 16;
  const unsigned byte = at(b, (five ? 48 : 16) + j / 2 * 32 + i % 32);
  unsigned code = j % 2 == 0 ? byte % 16 : byte / 16;
  if (five) code += at(b, 16 + i % 32) / (1U << j) % 2 * 16;
  return half(b, 0) * scale * code - half(b, 2) * least;
}

TEST(BlockCodes, MeanWhatTheirFormatsSay) {
  for (const Quantisation kind : kinds) {
    constexpr std::size_t blocks = 40;
    const BlockSize size = block_size(kind);
    const std::vector<std::byte> bytes = random_blocks(kind, blocks, 7);
    Floats row(blocks * size.weights);
    widen_blocks(kind, bytes.data(), row.size(), row.data());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::byte* block = bytes.data() + i / size.weights * size.bytes;
      const double expected = meaning(kind, block, i % size.weights);
      // Products are exact, and the minimum is taken off with one rounding.
      ASSERT_EQ(row[i], static_cast<float>(expected)) << static_cast<int>(kind) << " " << i;
    }
  }
}

TEST(BlockCodes, ProductsAreTheSameBitsAtEveryLengthAndRight) {
  const Rng rng(3);
  for (const Quantisation kind : kinds) {
    const BlockSize size = block_size(kind);
    for (std::size_t blocks = 1; blocks <= 9; ++blocks) {
      const std::size_t columns = blocks * size.weights;
      const std::size_t rows = 1 + blocks % 7;
      const std::size_t tokens = 1 + blocks % 6;
      const auto bytes = random_blocks(kind, rows * blocks, blocks);
      Floats x(tokens * columns);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
      }
      const QuantisedRows weights{kind, bytes.data(), nullptr, rows, columns};
      Floats expected(tokens * rows);
      const ModelKernels& scalar = *supported_model_kernels().back();
      scalar.multiply_quantised(weights, x.data(), tokens, rows, expected.data());
      for (const ModelKernels* table : supported_model_kernels()) {
        Floats found(tokens * rows);
        table->multiply_quantised(weights, x.data(), tokens, rows, found.data());
        ASSERT_EQ(found, expected) << table->name << " " << static_cast<int>(kind) << " " << blocks;
      }
      Floats row(columns);
      for (std::size_t r = 0; r < rows; ++r) {
        widen_codes(weights, r, row.data());
        for (std::size_t t = 0; t < tokens; ++t) {
          double sum = 0;
          double size_of_sum = 0;
          for (std::size_t i = 0; i < columns; ++i) {
            const double product =
                static_cast<double>(row[i]) * static_cast<double>(x[t * columns + i]);
            sum += product;
            size_of_sum += std::fabs(product);
          }
          ASSERT_NEAR(static_cast<double>(expected[t * rows + r]), sum, 1e-6 * size_of_sum);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv::model

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/model/rotation/rotate_kernels_detail.h"

namespace kv::model {
namespace {

// Where the two numbers of a pair stand in a row.
struct PairAt {
  std::size_t x;
  std::size_t y;
};

PairAt pair_at(const RotatedRows& rows, std::size_t pair) {
  if (rows.layout == RopeLayout::interleaved) return {2 * pair, 2 * pair + 1};
  return {pair, rows.pairs + pair};
}

float read(Number number, const std::byte* row, std::size_t i) {
  if (number == Number::f32) {
    float value = 0;
    std::memcpy(&value, row + 4 * i, 4);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, row + 2 * i, 2);
  return number == Number::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

void write(Number number, std::byte* row, std::size_t i, float value) {
  if (number == Number::f32) {
    std::memcpy(row + 4 * i, &value, 4);
    return;
  }
  const std::uint16_t bits = number == Number::f16 ? f32_to_f16(value) : f32_to_bf16(value);
  std::memcpy(row + 2 * i, &bits, 2);
}

void rotate(Number number, const RotatedRows& rows, const float* cosines, const float* sines) {
  const std::size_t bytes = rows.dim * (number == Number::f32 ? 4U : 2U);
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::byte* row = rows.rows + rows.slots[i] * bytes;
    for (std::size_t pair = 0; pair < rows.pairs; ++pair) {
      const auto [at_x, at_y] = pair_at(rows, pair);
      const float x = read(number, row, at_x);
      const float y = read(number, row, at_y);
      write(number, row, at_x, x * cosines[pair] - y * sines[pair]);
      write(number, row, at_y, x * sines[pair] + y * cosines[pair]);
    }
  }
}

// To the nearest f16, ties to even. Scaled so that one unit is the result's last bit, which is
// exact; a float then holds the result exactly. Through float alone it would be rounded twice.
std::uint16_t f64_to_f16(double value) {
  if (value == 0 || !std::isfinite(value)) return f32_to_f16(static_cast<float>(value));
  constexpr int least_exponent = -14;
  const int last_bit = std::max(std::ilogb(value), least_exponent) - 10;
  const double whole = std::nearbyint(std::ldexp(value, -last_bit));
  return f32_to_f16(static_cast<float>(std::copysign(std::ldexp(whole, last_bit), value)));
}

// a * b rounded to f16, then c * d added and the sum rounded once. A double holds both products
// exactly, and their sum too, unless one is far below the other's last bit. Then the sum in double
// rounds to the larger one, or to a neighbour of it on the right side: enough to decide which f16
// is nearest, even where the larger one is the midpoint of two.
std::uint16_t fused(float a, float b, float c, float d) {
  const float first = f16_to_f32(f64_to_f16(static_cast<double>(a) * static_cast<double>(b)));
  return f64_to_f16(static_cast<double>(first) + static_cast<double>(c) * static_cast<double>(d));
}

void rotate_f16(const RotatedRows& rows, const std::uint16_t* rotations) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::byte* row = rows.rows + rows.slots[i] * rows.dim * 2;
    for (std::size_t pair = 0; pair < rows.pairs; ++pair) {
      const auto [at_x, at_y] = pair_at(rows, pair);
      const float x = read(Number::f16, row, at_x);
      const float y = read(Number::f16, row, at_y);
      const float cosine = f16_to_f32(rotations[2 * pair]);
      const float sine = f16_to_f32(rotations[2 * pair + 1]);
      const std::uint16_t rotated_x = fused(x, cosine, -y, sine);
      const std::uint16_t rotated_y = fused(y, cosine, x, sine);
      std::memcpy(row + 2 * at_x, &rotated_x, 2);
      std::memcpy(row + 2 * at_y, &rotated_y, 2);
    }
  }
}

}  // namespace

const RotateKernels scalar_rotate_kernels = {
    .name = "scalar", .rotate = rotate, .rotate_f16 = rotate_f16};

}  // namespace kv::model

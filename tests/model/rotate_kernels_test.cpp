// Rotating keys in place: every table gives the scalar one's bits, at every tail and storage; the
// numbers are right against double precision; and n rotations by one position drift as far as is
// documented.
#include "kvcheck/model/rotation/rotate_kernels.h"
#include "kvcheck/sim/cache/slots.h"

#include <array>
#include <cmath>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"

namespace kv::model {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::array<RopeLayout, 2> layouts = {RopeLayout::half, RopeLayout::interleaved};

std::size_t bytes_of(Number number) {
  return number == Number::f32 ? 4 : 2;
}

// Normal numbers; every 37th tiny, so that f16 is subnormal there, and every 41st large.
Bytes some_keys(std::size_t count, Number number, std::uint64_t seed) {
  const Rng rng(seed);
  Bytes bytes(count * bytes_of(number));
  for (std::size_t i = 0; i < count; ++i) {
    const double scale = i % 37 == 36 ? 1e-5 : i % 41 == 40 ? 2e4 : 1;
    const auto value = static_cast<float>(scale * rng.normal(static_cast<Position>(i)));
    const std::uint16_t half = number == Number::f16 ? f32_to_f16(value) : f32_to_bf16(value);
    const void* from = number == Number::f32 ? static_cast<const void*>(&value) : &half;
    std::memcpy(bytes.data() + i * bytes_of(number), from, bytes_of(number));
  }
  return bytes;
}

std::vector<float> read(const Bytes& bytes, Number number) {
  std::vector<float> values(bytes.size() / bytes_of(number));
  kernels().widen(number, bytes.data(), values.size(), values.data());
  return values;
}

// The angles of one step of `delta` positions.
struct Angles {
  std::vector<double> angles;
  std::vector<float> cosines;
  std::vector<float> sines;
  std::vector<std::uint16_t> halves;

  Angles(std::size_t pairs, double delta, double base = 10000) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(pairs);
      const double angle = delta * std::pow(base, -share);
      angles.push_back(angle);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
      halves.push_back(f32_to_f16(cosines.back()));
      halves.push_back(f32_to_f16(sines.back()));
    }
  }
};

// What rotates the keys: one of the two arithmetics of a table.
struct Arithmetic {
  Number number;
  bool complex = false;  // in f16

  void apply(const RotateKernels& table, const RotatedRows& rows, const Angles& step) const {
    if (complex) return table.rotate_f16(rows, step.halves.data());
    table.rotate(number, rows, step.cosines.data(), step.sines.data());
  }
};

constexpr std::array<Arithmetic, 4> arithmetics = {
    {{Number::f32}, {Number::f16}, {Number::bf16}, {Number::f16, true}}};

// Five rows, of which three are rotated.
constexpr std::array<Slot, 3> some_slots = {4, 0, 2};

TEST(RotateKernels, TheSameBitsAtEveryTail) {
  const RotateKernels& scalar = *supported_rotate_kernels().back();
  ASSERT_EQ(scalar.name, "scalar");
  for (std::size_t pairs = 1; pairs <= 80; ++pairs) {
    for (const RopeLayout layout : layouts) {
      for (const Arithmetic& arithmetic : arithmetics) {
        const std::size_t dim = 2 * pairs + pairs % 3;
        const Bytes before = some_keys(5 * dim, arithmetic.number, pairs);
        const Angles step(pairs, -static_cast<double>(pairs));
        const auto rotated = [&](const RotateKernels& table) {
          Bytes bytes = before;
          arithmetic.apply(table, {bytes.data(), dim, some_slots.data(), 3, layout, pairs}, step);
          return bytes;
        };
        const Bytes expected = rotated(scalar);
        ASSERT_NE(expected, before);
        for (const RotateKernels* table : supported_rotate_kernels()) {
          ASSERT_EQ(rotated(*table), expected)
              << table->name << " " << pairs << " complex " << arithmetic.complex;
        }
      }
    }
  }
}

TEST(RotateKernels, TheOtherRowsAndTheRestOfARowStay) {
  for (const RotateKernels* table : supported_rotate_kernels()) {
    for (const Arithmetic& arithmetic : arithmetics) {
      constexpr std::size_t dim = 40;
      constexpr std::size_t pairs = 13;
      const Bytes before = some_keys(5 * dim, arithmetic.number, 3);
      Bytes after = before;
      const Angles step(pairs, 2);
      arithmetic.apply(*table, {after.data(), dim, some_slots.data(), 3, RopeLayout::half, pairs},
                       step);
      const std::vector<float> then = read(before, arithmetic.number);
      const std::vector<float> now = read(after, arithmetic.number);
      for (std::size_t i = 0; i < now.size(); ++i) {
        const std::size_t row = i / dim;
        const bool may_move = row % 2 == 0 && i % dim < 2 * pairs;
        if (!may_move) {
          EXPECT_EQ(now[i], then[i]) << table->name << " row " << row << " number " << i % dim;
        }
      }
    }
  }
}

TEST(RotateKernels, RotatesByTheAngle) {
  constexpr std::size_t pairs = 33;
  const Angles step(pairs, -3);
  const std::array<Slot, 1> slots = {0};
  for (const RopeLayout layout : layouts) {
    for (const Arithmetic& arithmetic : arithmetics) {
      Bytes bytes = some_keys(2 * pairs, arithmetic.number, 9);
      const std::vector<float> before = read(bytes, arithmetic.number);
      arithmetic.apply(rotate_kernels(), {bytes.data(), 2 * pairs, slots.data(), 1, layout, pairs},
                       step);
      const std::vector<float> after = read(bytes, arithmetic.number);
      const double bound = arithmetic.number == Number::f32   ? 1e-6
                           : arithmetic.number == Number::f16 ? 2e-3
                                                              : 8e-3;
      for (std::size_t i = 0; i < pairs; ++i) {
        const bool half = layout == RopeLayout::half;
        const std::size_t at_x = half ? i : 2 * i;
        const std::size_t at_y = half ? pairs + i : 2 * i + 1;
        const double x = static_cast<double>(before[at_x]);
        const double y = static_cast<double>(before[at_y]);
        const double c = std::cos(step.angles[i]);
        const double s = std::sin(step.angles[i]);
        const double length = std::hypot(x, y) + 1e-4;
        EXPECT_NEAR(static_cast<double>(after[at_x]), x * c - y * s, bound * length);
        EXPECT_NEAR(static_cast<double>(after[at_y]), x * s + y * c, bound * length);
      }
    }
  }
}

// Relative error (L2) and length of a normal key of 128 numbers after n rotations by one position.
struct Drift {
  double error = 0;
  double length = 0;
};

Drift drift(const Arithmetic& arithmetic, double base, std::size_t steps) {
  constexpr std::size_t pairs = 64;
  constexpr std::size_t count = 16;
  const Rng rng(2044);
  std::vector<Slot> slots;
  Bytes bytes(count * 2 * pairs * bytes_of(arithmetic.number));
  std::vector<float> start;
  for (std::size_t i = 0; i < count * 2 * pairs; ++i) {
    start.push_back(static_cast<float>(rng.normal(static_cast<Position>(i))));
    const std::uint16_t half =
        arithmetic.number == Number::f16 ? f32_to_f16(start[i]) : f32_to_bf16(start[i]);
    const std::size_t size = bytes_of(arithmetic.number);
    const void* from = size == 4 ? static_cast<const void*>(&start[i]) : &half;
    std::memcpy(bytes.data() + i * size, from, size);
  }
  for (Slot slot = 0; slot < count; ++slot) slots.push_back(slot);
  const Angles step(pairs, -1, base);
  const RotatedRows rows{bytes.data(), 2 * pairs, slots.data(), count, RopeLayout::half, pairs};
  for (std::size_t i = 0; i < steps; ++i) arithmetic.apply(rotate_kernels(), rows, step);
  const std::vector<float> now = read(bytes, arithmetic.number);
  double wrong = 0;
  double norm = 0;
  double found = 0;
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t at = row * 2 * pairs + i;
      const double angle = step.angles[i] * static_cast<double>(steps);
      const auto x = static_cast<double>(start[at]);
      const auto y = static_cast<double>(start[at + pairs]);
      const double dx = static_cast<double>(now[at]) - (x * std::cos(angle) - y * std::sin(angle));
      const double dy =
          static_cast<double>(now[at + pairs]) - (x * std::sin(angle) + y * std::cos(angle));
      wrong += dx * dx + dy * dy;
      norm += x * x + y * y;
      found += std::pow(static_cast<double>(now[at]), 2);
      found += std::pow(static_cast<double>(now[at + pairs]), 2);
    }
  }
  return {std::sqrt(wrong / norm), std::sqrt(found / norm)};
}

// A row of the table in docs/model.md.
struct Documented {
  std::string_view name;
  Arithmetic arithmetic;
  double base;
  std::array<double, 5> error;  // after 16, 64, 256, 1024, 2044 steps
  double length;                // after 2044
};

constexpr std::array<Documented, 8> documented = {{
    {"f16", {Number::f16}, 1e4, {.0018, .0059, .019, .065, .116}, 1.007},
    {"f16 complex", {Number::f16, true}, 1e4, {.0028, .0101, .038, .143, .281}, 1.100},
    {"bf16", {Number::bf16}, 1e4, {.0129, .0386, .125, .538, .795}, 1.014},
    {"f16", {Number::f16}, 5e5, {.0016, .0055, .018, .058, .104}, 1.003},
    {"f16 complex", {Number::f16, true}, 5e5, {.0024, .0088, .032, .119, .230}, 1.044},
    {"bf16", {Number::bf16}, 5e5, {.0098, .0312, .109, .470, .705}, 1.012},
    {"f32", {Number::f32}, 1e4, {0, 0, 0, 0, 0}, 1},
    {"f32", {Number::f32}, 5e5, {0, 0, 0, 0, 0}, 1},
}};

// The instruction, where it exists, and its emulation give these numbers alike.
TEST(RotateKernels, OneStepShiftsDriftAsDocumented) {
  constexpr std::array<std::size_t, 5> steps = {16, 64, 256, 1024, 2044};
  for (const Documented& row : documented) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Drift found = drift(row.arithmetic, row.base, steps[i]);
      EXPECT_NEAR(found.error, row.error[i], 1e-4 + 0.03 * row.error[i])
          << row.name << " base " << row.base << " after " << steps[i];
      if (steps[i] == 2044) {
        EXPECT_NEAR(found.length, row.length, 2e-3) << row.name;
      }
    }
  }
}

TEST(RotateKernels, TheComplexInstructionIsRun) {
  const RotateKernels& best = *supported_rotate_kernels().front();
  if (!best.complex_instruction) GTEST_SKIP() << "no AVX512-FP16: only its emulation was tested";
  EXPECT_EQ(best.name, "avx512-fp16");
  EXPECT_FALSE(supported_rotate_kernels()[1]->complex_instruction);
}

}  // namespace
}  // namespace kv::model

// The rows "f16 complex" of the table in docs/model.md: how far keys are from their place after
// many rotations by one position.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/tests/fp16/rotations.h"

namespace kv::fp16 {

struct Drift {
  static constexpr std::array<std::size_t, 5> steps = {16, 64, 256, 1024, 2044};

  std::array<double, steps.size()> error{};  // relative (L2) after so many steps
  double length = 0;                         // of the keys after the last of them, relative
  std::uint64_t results = 0;                 // numbers compared with the emulation, at every step
  std::uint64_t different = 0;               // of these
};

// Of the normal keys and angles that RotateKernels.OneStepShiftsDriftAsDocumented takes.
Drift drift_of(const Rotate& tried, double base);

struct DocumentedDrift {
  double base;
  std::array<double, Drift::steps.size()> error;
  double length;
};

inline constexpr std::array<DocumentedDrift, 2> documented_drift = {{
    {1e4, {.0028, .0101, .038, .143, .281}, 1.100},
    {5e5, {.0024, .0088, .032, .119, .230}, 1.044},
}};

// Whether it agrees with the emulation, and with what is documented up to its last digit.
bool is_as_documented(const Drift& drift, const DocumentedDrift& documented);

}  // namespace kv::fp16

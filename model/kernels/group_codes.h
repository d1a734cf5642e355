// Quantisation groups: numbers as codes of a few bits that share a step. number = zero + (code -
// origin) * step.
//
//   symmetric  no zero point; codes 1 to 2^bits - 1 around the origin 2^(bits - 1)
//   affine     codes 0 to 2^bits - 1 from the least number up
//
// The step is the finest with which the codes reach from the least to the greatest number, rounded
// up to the format that it is stored in; the zero point is rounded down. So every number is within
// reach, and the nearest code is off by at most half a step (and a rounding of f32).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kv::model {

struct CodeKind {
  unsigned bits = 8;  // 2, 4 or 8
  bool affine = false;
  bool wide = false;  // the step is an f32, not a bf16

  // Bytes of the codes of so many numbers; a byte holds the first in its lowest bits.
  [[nodiscard]] std::size_t bytes(std::size_t numbers) const { return (numbers * bits + 7) / 8; }

  // Bytes of a quantisation group's step and zero point.
  [[nodiscard]] std::size_t step_bytes() const {
    return (wide ? sizeof(float) : sizeof(std::uint16_t)) + (affine ? sizeof(std::uint16_t) : 0);
  }

  [[nodiscard]] int origin() const { return affine ? 0 : 1 << (bits - 1); }

  [[nodiscard]] int least() const { return affine ? 0 : 1; }

  [[nodiscard]] int most() const { return (1 << bits) - 1; }
};

struct CodeSteps {
  float step = 0;  // 0 where all numbers are the zero point
  float zero = 0;
};

// What reaches all numbers from `least` to `most`, as it will be stored. Requires finite numbers
// of at most 1e38 in size.
CodeSteps code_steps(const CodeKind& kind, float least, float most);

// Of two codes equally near the even one.
int nearest_code(const CodeKind& kind, const CodeSteps& steps, float number);

inline float coded_number(const CodeKind& kind, const CodeSteps& steps, int code) {
  return static_cast<float>(code - kind.origin()) * steps.step + steps.zero;
}

void write_steps(const CodeKind& kind, const CodeSteps& steps, std::byte* to);
CodeSteps read_steps(const CodeKind& kind, const std::byte* from);

// Code `index` of a row. Writing requires that its bits are 0.
void write_code(const CodeKind& kind, std::byte* codes, std::size_t index, int code);
int read_code(const CodeKind& kind, const std::byte* codes, std::size_t index);

}  // namespace kv::model

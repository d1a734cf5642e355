#include "kvcheck/model/kernels/group_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kvcheck/base/half.h"

namespace kv::model {
namespace {

constexpr std::uint32_t largest_bf16 = 0x7f7f;

// The bits of the nearest bf16 that is not closer to 0; never infinity.
std::uint32_t away_from_zero(std::uint32_t size) {
  return std::min((size + 0xffffU) >> 16U, largest_bf16);
}

std::uint16_t bf16_not_below(float size) {
  return static_cast<std::uint16_t>(away_from_zero(std::bit_cast<std::uint32_t>(size)));
}

std::uint16_t bf16_not_above(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint32_t sign = 0x80000000U;
  if ((bits & sign) == 0) return static_cast<std::uint16_t>(bits >> 16U);
  return static_cast<std::uint16_t>(away_from_zero(bits & ~sign) | (sign >> 16U));
}

}  // namespace

CodeSteps code_steps(const CodeKind& kind, float least, float most) {
  CodeSteps steps;
  double reach = static_cast<double>(std::max(std::fabs(least), std::fabs(most)));
  if (kind.affine) {
    // The zero point first: the step has to reach from where it was rounded down to.
    steps.zero = bf16_to_f32(bf16_not_above(least));
    reach = static_cast<double>(most) - static_cast<double>(steps.zero);
  }
  const int codes = kind.most() - kind.origin();
  const auto exact = static_cast<float>(reach / codes);
  steps.step = kind.wide ? exact : bf16_to_f32(bf16_not_below(exact));
  return steps;
}

int nearest_code(const CodeKind& kind, const CodeSteps& steps, float number) {
  // All numbers of the group are its zero point.
  if (steps.step == 0) return kind.origin();
  const double quotient = (static_cast<double>(number) - static_cast<double>(steps.zero)) /
                          static_cast<double>(steps.step);
  // Rounded by hand, to even: nearbyint depends on the processor's rounding mode.
  const double below = std::floor(quotient);
  const double rest = quotient - below;
  const int code = static_cast<int>(below);
  const bool up = rest > 0.5 || (rest == 0.5 && code % 2 != 0);
  return std::clamp(code + (up ? 1 : 0) + kind.origin(), kind.least(), kind.most());
}

void write_steps(const CodeKind& kind, const CodeSteps& steps, std::byte* to) {
  if (kind.wide) {
    std::memcpy(to, &steps.step, sizeof steps.step);
    to += sizeof steps.step;
  } else {
    const std::uint16_t step = f32_to_bf16(steps.step);
    std::memcpy(to, &step, sizeof step);
    to += sizeof step;
  }
  if (!kind.affine) return;
  const std::uint16_t zero = f32_to_bf16(steps.zero);
  std::memcpy(to, &zero, sizeof zero);
}

CodeSteps read_steps(const CodeKind& kind, const std::byte* from) {
  CodeSteps steps;
  std::uint16_t half = 0;
  if (kind.wide) {
    std::memcpy(&steps.step, from, sizeof steps.step);
    from += sizeof steps.step;
  } else {
    std::memcpy(&half, from, sizeof half);
    steps.step = bf16_to_f32(half);
    from += sizeof half;
  }
  if (!kind.affine) return steps;
  std::memcpy(&half, from, sizeof half);
  steps.zero = bf16_to_f32(half);
  return steps;
}

void write_code(const CodeKind& kind, std::byte* codes, std::size_t index, int code) {
  const std::size_t per_byte = 8 / kind.bits;
  const auto shift = static_cast<unsigned>(index % per_byte) * kind.bits;
  codes[index / per_byte] |= static_cast<std::byte>(static_cast<unsigned>(code) << shift);
}

int read_code(const CodeKind& kind, const std::byte* codes, std::size_t index) {
  const std::size_t per_byte = 8 / kind.bits;
  const auto shift = static_cast<unsigned>(index % per_byte) * kind.bits;
  const auto all = std::to_integer<unsigned>(codes[index / per_byte]);
  return static_cast<int>((all >> shift) & ((1U << kind.bits) - 1));
}

}  // namespace kv::model

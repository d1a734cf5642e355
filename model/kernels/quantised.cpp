#include "kvcheck/model/kernels/quantised.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/model/kernels/block_codes.h"

namespace kv::model {
namespace {

float largest_in_size(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

// Rounded by hand, to even: nearbyint depends on the processor's rounding mode. Without a call or a
// branch, so that a row takes a few nanoseconds a weight. Requires a size of at most 128.
int nearest_code(double value) {
  const int below = static_cast<int>(value + 256) - 256;
  const double rest = value - below;
  const int up = static_cast<int>(rest > 0.5) | (static_cast<int>(rest == 0.5) & below & 1);
  return std::clamp(below + up, -127, 127);
}

void to_int8(std::span<const float> row, std::byte* codes, float* scales) {
  *scales = largest_in_size(row) / 127;
  if (*scales == 0) {
    std::fill_n(codes, row.size(), std::byte{0});
    return;
  }
  const auto scale = static_cast<double>(*scales);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int code = nearest_code(static_cast<double>(row[i]) / scale);
    codes[i] = static_cast<std::byte>(static_cast<std::int8_t>(code));
  }
}

// Halfway between each two levels.
constexpr auto middles = [] {
  std::array<double, nf4_levels.size() - 1> between{};
  for (std::size_t i = 0; i < between.size(); ++i) {
    between[i] = (static_cast<double>(nf4_levels[i]) + static_cast<double>(nf4_levels[i + 1])) / 2;
  }
  return between;
}();

// The level nearest to `value`; of two equally near, the lower one: as many as there are middles
// below it.
std::size_t nearest_level(double value) {
  std::size_t level = 0;
  for (const std::size_t half : {8U, 4U, 2U, 1U}) {
    level += value > middles[level + half - 1] ? half : 0;
  }
  return level;
}

void to_nf4(std::span<const float> row, std::byte* codes, float* scales) {
  constexpr std::size_t zero = 7;  // the level that is exactly 0: a block of zeros has no scale
  std::fill_n(codes, code_bytes(Quantisation::nf4, row.size()), std::byte{0});
  for (std::size_t begin = 0; begin < row.size(); begin += nf4_block, ++scales) {
    const auto block = row.subspan(begin, std::min(nf4_block, row.size() - begin));
    *scales = largest_in_size(block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t level =
          *scales == 0
              ? zero
              : nearest_level(static_cast<double>(block[i]) / static_cast<double>(*scales));
      codes[(begin + i) / 2] |= static_cast<std::byte>(i % 2 == 0 ? level : level << 4U);
    }
  }
}

}  // namespace

void quantise_row(Quantisation kind, std::span<const float> row, std::byte* codes, float* scales) {
  KV_CHECK(kind == Quantisation::int8 || kind == Quantisation::nf4);
  if (kind == Quantisation::int8) {
    to_int8(row, codes, scales);
  } else {
    to_nf4(row, codes, scales);
  }
}

void widen_codes(const QuantisedRows& weights, std::size_t index, float* out) {
  const std::byte* codes = weights.codes + index * code_bytes(weights.kind, weights.columns);
  if (weights.kind == Quantisation::int8) {
    for (std::size_t i = 0; i < weights.columns; ++i) {
      out[i] = static_cast<float>(static_cast<std::int8_t>(codes[i]));
    }
    return;
  }
  if (block_size(weights.kind).weights > 0) {
    return widen_blocks(weights.kind, codes, weights.columns, out);
  }
  const float* scales = weights.scales + index * scales_of_row(weights.kind, weights.columns);
  for (std::size_t i = 0; i < weights.columns; ++i) {
    const auto pair = static_cast<unsigned>(codes[i / 2]);
    out[i] = nf4_levels[(i % 2 == 0 ? pair : pair >> 4U) & 15U] * scales[i / nf4_block];
  }
}

}  // namespace kv::model

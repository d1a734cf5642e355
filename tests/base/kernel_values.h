// Numbers for the tests of kernels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"

namespace kv {

// The longest row that is tried.
inline constexpr std::size_t most = 257;

using limits = std::numeric_limits<float>;

inline constexpr std::array<float, 14> specials = {0.0F,
                                                   -0.0F,
                                                   limits::infinity(),
                                                   -limits::infinity(),
                                                   limits::quiet_NaN(),
                                                   limits::max(),
                                                   limits::lowest(),
                                                   limits::denorm_min(),
                                                   -limits::denorm_min(),
                                                   limits::min(),
                                                   1.0F,
                                                   -1.0F,
                                                   1e-40F,
                                                   limits::epsilon()};

inline const Kernels& scalar() {
  return *supported_kernels().back();
}

// `n` floats from -8 to 8 behind `shift` others, so that they are not aligned to more than a float.
// What follows them is poison: a kernel that reads past the end shows it.
class Values {
 public:
  Values(std::uint64_t seed, std::size_t n, std::size_t shift = 1)
      : numbers_(shift + n + 16, std::numeric_limits<float>::quiet_NaN()), shift_(shift), n_(n) {
    const Rng rng(seed);
    for (std::size_t i = 0; i < n; ++i) {
      data()[i] = static_cast<float>(16 * rng.uniform(static_cast<Position>(i)) - 8);
    }
  }

  float* data() { return numbers_.data() + shift_; }

  [[nodiscard]] const float* data() const { return numbers_.data() + shift_; }

  // The bits of all numbers, the poison included, so that a stray write shows too.
  [[nodiscard]] std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> all;
    for (const float number : numbers_) all.push_back(std::bit_cast<std::uint32_t>(number));
    return all;
  }

  [[nodiscard]] std::size_t size() const { return n_; }

 private:
  std::vector<float> numbers_;
  std::size_t shift_;
  std::size_t n_;
};

// The same bits, or both NaN: which NaN an operation on two gives depends on the instruction.
inline bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

inline bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

template <typename Numbers>
bool same_all(const Numbers& a, const Numbers& b) {
  return std::ranges::equal(a, b, [](auto x, auto y) { return same(x, y); });
}

inline bool same_all(const Values& a, const Values& b) {
  return same_all(std::span(a.data(), a.size() + 16), std::span(b.data(), b.size() + 16));
}

// Normally distributed numbers, others for every seed. They come from one table, because it takes
// longer to draw them than most kernels take.
inline std::vector<float> some_normals(std::size_t count, std::uint64_t seed) {
  static const std::vector<float> table = [] {
    std::vector<float> drawn(16411);
    const Rng rng(3);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      drawn[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
    }
    return drawn;
  }();
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = table[(i + 977 * seed) % table.size()];
  return values;
}

// What stands where a kernel has nothing to write.
inline constexpr float untouched = -7;

// Whether the first `count` numbers are the same bits as those of `all`, and the others untouched.
inline bool begins_as(const std::vector<float>& found,
                      const std::vector<float>& all,
                      std::size_t count) {
  const auto rest = std::span(found).subspan(count);
  return std::memcmp(found.data(), all.data(), count * sizeof(float)) == 0 &&
         std::ranges::all_of(rest, [](float number) { return number == untouched; });
}

}  // namespace kv

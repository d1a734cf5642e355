#include "kvcheck/tests/fp16/drift.h"

#include <cmath>
#include <numeric>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"

namespace kv::fp16 {
namespace {

constexpr std::size_t count = 16;
constexpr std::size_t pairs = 64;
constexpr std::size_t dim = 2 * pairs;

std::vector<double> angles_of_a_step(double base) {
  std::vector<double> angles;
  for (std::size_t i = 0; i < pairs; ++i) {
    angles.push_back(-std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs)));
  }
  return angles;
}

std::uint16_t half(double value) {
  return f32_to_f16(static_cast<float>(value));
}

// Sums of squares: of the keys, of the rotated ones, and of how far these are from their place.
struct Squares {
  double before = 0;
  double after = 0;
  double wrong = 0;
};

Squares squares_of(const std::vector<float>& before,
                   const std::vector<std::uint16_t>& after,
                   const std::vector<double>& angles,
                   std::size_t steps) {
  Squares squares;
  for (std::size_t i = 0; i < count * pairs; ++i) {
    const std::size_t at = i / pairs * dim + i % pairs;
    const double angle = angles[i % pairs] * static_cast<double>(steps);
    const auto x = static_cast<double>(before[at]);
    const auto y = static_cast<double>(before[at + pairs]);
    const auto now_x = static_cast<double>(f16_to_f32(after[at]));
    const auto now_y = static_cast<double>(f16_to_f32(after[at + pairs]));
    const double wrong_x = now_x - (x * std::cos(angle) - y * std::sin(angle));
    const double wrong_y = now_y - (x * std::sin(angle) + y * std::cos(angle));
    squares.before += x * x + y * y;
    squares.after += now_x * now_x + now_y * now_y;
    squares.wrong += wrong_x * wrong_x + wrong_y * wrong_y;
  }
  return squares;
}

}  // namespace

Drift drift_of(const Rotate& tried, double base) {
  const Rng rng(2044);
  std::vector<float> start;
  std::vector<std::uint16_t> keys;
  for (std::size_t i = 0; i < count * dim; ++i) {
    start.push_back(static_cast<float>(rng.normal(static_cast<Position>(i))));
    keys.push_back(f32_to_f16(start.back()));
  }
  const std::vector<double> angles = angles_of_a_step(base);
  std::vector<std::uint16_t> halves;
  for (const double angle : angles) {
    halves.push_back(half(std::cos(angle)));
    halves.push_back(half(std::sin(angle)));
  }
  std::vector<std::uint32_t> slots(count);
  std::iota(slots.begin(), slots.end(), 0U);

  std::vector<std::uint16_t> emulated = keys;
  const auto rotate = [&](const Rotate& by, std::vector<std::uint16_t>& rows) {
    by({reinterpret_cast<std::byte*>(rows.data()), dim, slots.data(), count, RopeLayout::half,
        pairs},
       halves.data());
  };
  Drift drift;
  std::size_t done = 0;
  for (std::size_t i = 0; i < Drift::steps.size(); ++i) {
    for (; done < Drift::steps[i]; ++done) {
      rotate(tried, keys);
      rotate(emulation(), emulated);
      drift.results += keys.size();
      for (std::size_t at = 0; at < keys.size(); ++at) {
        drift.different += keys[at] != emulated[at] ? 1U : 0U;
      }
    }
    const Squares squares = squares_of(start, keys, angles, done);
    drift.error[i] = std::sqrt(squares.wrong / squares.before);
    drift.length = std::sqrt(squares.after / squares.before);
  }
  return drift;
}

bool is_as_documented(const Drift& drift, const DocumentedDrift& documented) {
  bool same = drift.different == 0 && std::abs(drift.length - documented.length) < 1e-3;
  for (std::size_t i = 0; i < drift.error.size(); ++i) {
    const double last_digit = documented.error[i] < .03 ? 1e-4 : 1e-3;
    same = same && std::abs(drift.error[i] - documented.error[i]) <= last_digit;
  }
  return same;
}

}  // namespace kv::fp16

#include "kvcheck/properties/cases/payload.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <optional>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/threads/of_this_thread.h"

namespace kv::properties {
namespace {

// Digits of a tag: position (4), variant (2), sequence, layer, head, two check sums, and the
// constant.
using Digits = std::array<int, payload_pairs>;

constexpr int base = 16;
constexpr std::size_t constant = 11;
constexpr int constant_digit = 7;

std::array<int, 2> check_sums(const Digits& digits) {
  int plain = 3;
  int weighted = 5;
  for (std::size_t i = 0; i < 9; ++i) {
    plain += digits[i];
    weighted += digits[i] * static_cast<int>(2 * i + 3) + (digits[i] >> 1);
  }
  return {plain % base, weighted % base};
}

Digits digits_of(Token token, const Place& place) {
  KV_CHECK(token.position >= 0 && token.position < 65536);
  KV_CHECK(token.variant >= 0 && token.variant < 256);
  KV_CHECK(std::max({place.sequence, place.layer, place.head}) < most_places);
  Digits digits{};
  for (std::size_t i = 0; i < 4; ++i) digits[i] = (token.position >> (4 * i)) & 15;
  digits[4] = token.variant & 15;
  digits[5] = token.variant >> 4;
  digits[6] = static_cast<int>(place.sequence);
  digits[7] = static_cast<int>(place.layer);
  digits[8] = static_cast<int>(place.head);
  const auto sums = check_sums(digits);
  digits[9] = sums[0];
  digits[10] = sums[1];
  digits[constant] = constant_digit;
  return digits;
}

// Lengths and plain numbers are digit + 1: zeros are no token's.
std::optional<Digits> digits_in(const std::array<double, payload_pairs>& numbers) {
  const double scale = numbers[constant] / (constant_digit + 1);
  if (!(scale > 0.01) || !(scale < 100)) return std::nullopt;
  Digits digits{};
  for (std::size_t i = 0; i < payload_pairs; ++i) {
    const double number = numbers[i] / scale;
    if (!(number > 0.5) || !(number < base + 0.5)) return std::nullopt;
    digits[i] = static_cast<int>(std::lround(number)) - 1;
  }
  const auto sums = check_sums(digits);
  if (digits[9] != sums[0] || digits[10] != sums[1]) return std::nullopt;
  return digits;
}

Token token_of(const Digits& digits) {
  Token token{0, digits[4] + 16 * digits[5]};
  for (std::size_t i = 0; i < 4; ++i) token.position += digits[i] << (4 * i);
  return token;
}

Place place_of(const Digits& digits) {
  return {static_cast<std::uint32_t>(digits[6]), static_cast<std::uint32_t>(digits[7]),
          static_cast<std::uint32_t>(digits[8])};
}

// Radians a position, fastest first: base 10000, as rotary embeddings have it.
double speed(std::size_t pair) {
  static const auto speeds = [] {
    std::array<double, payload_pairs> all{};
    for (std::size_t i = 0; i < payload_pairs; ++i) {
      all[i] = std::pow(10000.0, -static_cast<double>(i) / payload_pairs);
    }
    return all;
  }();
  return speeds[pair];
}

std::array<std::size_t, 2> elements(std::size_t pair, PairLayout layout) {
  if (layout == PairLayout::half_split) return {pair, pair + payload_pairs};
  return {2 * pair, 2 * pair + 1};
}

std::array<double, key_size> exact_key(const Digits& digits, double position, PairLayout layout) {
  std::array<double, key_size> key{};
  for (std::size_t pair = 0; pair < payload_pairs; ++pair) {
    const auto [x, y] = elements(pair, layout);
    const double length = digits[pair] + 1;
    key[x] = length * std::cos(position * speed(pair));
    key[y] = length * std::sin(position * speed(pair));
  }
  return key;
}

double decoded_position(const std::array<double, payload_pairs>& angles) {
  double position = 0;
  for (std::size_t pair = payload_pairs; pair-- > 0;) {
    const double off = angles[pair] - position * speed(pair);
    position += std::remainder(off, 2 * std::numbers::pi) / speed(pair);
  }
  const double whole = std::round(position);
  return std::abs(position - whole) < 0.25 ? whole : position;
}

KeyReading decoded(std::span<const float, key_size> key, PairLayout layout) {
  std::array<double, payload_pairs> lengths{};
  std::array<double, payload_pairs> angles{};
  for (std::size_t pair = 0; pair < payload_pairs; ++pair) {
    const auto [x, y] = elements(pair, layout);
    lengths[pair] = std::hypot(static_cast<double>(key[x]), static_cast<double>(key[y]));
    angles[pair] = std::atan2(static_cast<double>(key[y]), static_cast<double>(key[x]));
  }
  const auto digits = digits_in(lengths);
  if (!digits) return {};
  KeyReading reading{token_of(*digits), place_of(*digits), decoded_position(angles), 0};
  const auto exact = exact_key(*digits, reading.position, layout);
  double off = 0;
  double whole = 0;
  for (std::size_t i = 0; i < key_size; ++i) {
    off += (static_cast<double>(key[i]) - exact[i]) * (static_cast<double>(key[i]) - exact[i]);
    whole += exact[i] * exact[i];
  }
  reading.error = std::sqrt(off / whole);
  return reading;
}

ValueReading decoded(std::span<const float, value_size> value) {
  std::array<double, payload_pairs> numbers{};
  std::ranges::transform(value, numbers.begin(), [](float x) { return static_cast<double>(x); });
  const auto digits = digits_in(numbers);
  if (!digits) return {};
  return {token_of(*digits), place_of(*digits)};
}

// To codes of one step, which it gives; 0 if all are 0.
float round_to_codes(std::span<float> numbers, Precision precision) {
  float most = 0;
  for (const float x : numbers) most = std::max(most, std::abs(x));
  if (most == 0) return 0;
  const float step = most / (precision == Precision::int8 ? 127.0F : 7.0F);
  for (float& x : numbers) x = std::round(x / step) * step;
  return step;
}

// Vectors that were read before. The same few are read over and over, since every call tells all
// rows, and reading a key takes some fifty transcendental functions.
template <std::size_t n, typename Reading>
class KnownVectors {
 public:
  KnownVectors() : entries_(size) {}

  template <typename Decode>
  const Reading& read(std::span<const float, n> vector, const Decode& decode) {
    Entry& entry = entries_[place(vector)];
    // By their bits, because no NaN equals itself.
    if (entry.filled && std::memcmp(entry.vector.data(), vector.data(), sizeof entry.vector) == 0) {
      return entry.reading;
    }
    std::ranges::copy(vector, entry.vector.begin());
    entry.reading = decode(vector);
    entry.filled = true;
    return entry.reading;
  }

 private:
  static constexpr std::size_t size = 4096;

  struct Entry {
    std::array<float, n> vector{};
    bool filled = false;
    Reading reading;
  };

  // Products of neighbours, each moved by a constant of its place: NH of UMAC (RFC 4418), whose
  // multiplications do not wait for each other.
  static std::size_t place(std::span<const float, n> vector) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const auto key = 0x9e3779b9U * static_cast<std::uint32_t>(i + 1);
      const std::uint32_t a = std::bit_cast<std::uint32_t>(vector[i]) + key;
      const std::uint32_t b = std::bit_cast<std::uint32_t>(vector[i + 1]) + (key ^ 0x85ebca6bU);
      sum += std::uint64_t{a} * b;
    }
    return static_cast<std::size_t>((sum ^ (sum >> 29U)) * 0x9e3779b97f4a7c15U >> 40U) % size;
  }

  std::vector<Entry> entries_;
};

}  // namespace

KeyVector encode_key(Token token, const Place& place, double position, PairLayout layout) {
  const auto exact = exact_key(digits_of(token, place), position, layout);
  KeyVector key{};
  std::ranges::transform(exact, key.begin(), [](double x) { return static_cast<float>(x); });
  return key;
}

ValueVector encode_value(Token token, const Place& place) {
  const Digits digits = digits_of(token, place);
  ValueVector value{};
  std::ranges::transform(digits, value.begin(), [](int d) { return static_cast<float>(d + 1); });
  return value;
}

void rotate_key(std::span<float, key_size> key, double delta, PairLayout layout) {
  for (std::size_t pair = 0; pair < payload_pairs; ++pair) {
    const auto [x, y] = elements(pair, layout);
    const double cosine = std::cos(delta * speed(pair));
    const double sine = std::sin(delta * speed(pair));
    const auto a = static_cast<double>(key[x]);
    const auto b = static_cast<double>(key[y]);
    key[x] = static_cast<float>(a * cosine - b * sine);
    key[y] = static_cast<float>(a * sine + b * cosine);
  }
}

void store_as(std::span<float> vector, Precision precision) {
  if (precision == Precision::f32) return;
  if (precision == Precision::f16) {
    for (float& x : vector) x = f16_to_f32(f32_to_f16(x));
    return;
  }
  if (precision == Precision::bf16) {
    for (float& x : vector) x = bf16_to_f32(f32_to_bf16(x));
    return;
  }
  round_to_codes(vector, precision);
}

std::vector<float> store_in_groups(std::span<float> vector, Precision precision) {
  KV_CHECK(has_tiers(precision));
  std::vector<float> steps;
  for (std::size_t begin = 0; begin < vector.size(); begin += payload_group) {
    const auto group = vector.subspan(begin, std::min(payload_group, vector.size() - begin));
    steps.push_back(round_to_codes(group, precision));
  }
  return steps;
}

KeyReading read_key(std::span<const float, key_size> key, PairLayout layout) {
  auto& known = of_this_thread<std::array<KnownVectors<key_size, KeyReading>, 2>>();
  return known[layout == PairLayout::half_split ? 0 : 1].read(
      key, [layout](std::span<const float, key_size> vector) { return decoded(vector, layout); });
}

ValueReading read_value(std::span<const float, value_size> value) {
  auto& known = of_this_thread<KnownVectors<value_size, ValueReading>>();
  return known.read(value,
                    [](std::span<const float, value_size> vector) { return decoded(vector); });
}

}  // namespace kv::properties

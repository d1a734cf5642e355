#include "kvcheck/properties/cases/tensor_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <optional>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv::properties {
namespace {

constexpr unsigned tag_bits = 48;
constexpr unsigned check_bits = 12;
constexpr std::uint64_t plain_mask = (std::uint64_t{1} << (tag_bits - check_bits)) - 1;

// Bits that a tag made of pieces of others has by chance only: one time in 4,096.
std::uint64_t check_of(std::uint64_t plain) {
  return ((plain + 1) * 0x9e3779b97f4a7c15U) >> (64 - check_bits);
}

std::uint64_t tag_of(Token token, const Place& place) {
  KV_CHECK(token.position >= 0 && token.position < 65536);
  KV_CHECK(token.variant >= 0 && token.variant < 256);
  KV_CHECK(std::max({place.sequence, place.layer, place.head}) < most_places);
  const std::uint64_t plain = static_cast<std::uint64_t>(token.position) |
                              static_cast<std::uint64_t>(token.variant) << 16U |
                              std::uint64_t{place.sequence} << 24U |
                              std::uint64_t{place.layer} << 28U | std::uint64_t{place.head} << 32U;
  return plain | check_of(plain) << (tag_bits - check_bits);
}

// How a tag is cut for a row of `room` numbers.
struct Digits {
  explicit Digits(std::size_t room)
      : count(std::min<std::size_t>(12, room)), bits((tag_bits + count - 1) / count) {}

  [[nodiscard]] std::uint64_t at(std::uint64_t tag, std::size_t place) const {
    return tag >> (place % count * bits) & ((std::uint64_t{1} << bits) - 1);
  }

  std::size_t count;
  std::size_t bits;
};

// The tag of which every number of the row is a digit and 1; nothing if it is none's.
std::optional<std::uint64_t> tag_in(std::span<const double> numbers) {
  const Digits digits(numbers.size());
  const double most = static_cast<double>(std::uint64_t{1} << digits.bits);
  std::uint64_t tag = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!(numbers[i] > 0.5) || !(numbers[i] < most + 0.5)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(std::lround(numbers[i]) - 1);
    if (i < digits.count) tag |= digit << (i * digits.bits);
    if (digits.at(tag, i) != digit) return std::nullopt;
  }
  const std::uint64_t plain = tag & plain_mask;
  if (tag >> (tag_bits - check_bits) != check_of(plain)) return std::nullopt;
  return tag;
}

Token token_of(std::uint64_t tag) {
  return {static_cast<std::int32_t>(tag & 0xffffU), static_cast<std::int32_t>(tag >> 16U & 0xffU)};
}

Place place_of(std::uint64_t tag) {
  const auto part = [tag](unsigned bit) { return static_cast<std::uint32_t>(tag >> bit & 15U); };
  return {part(24), part(28), part(32)};
}

}  // namespace

// Keys that were read before, each in the place of its hash.
struct TensorRows::Known {
  struct Entry {
    std::vector<float> key;
    KeyReading reading;
  };

  // FNV-1a over the bits.
  Entry& of(std::span<const float> key) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const float x : key) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 0x100000001b3U;
    return entries[(hash ^ hash >> 29U) % entries.size()];
  }

  std::vector<Entry> entries{4096};
};

std::string wrong_format(const TensorFormat& format) {
  if (format.head_dim < 16 || format.head_dim % 2 != 0) {
    return "head_dim is " + std::to_string(format.head_dim) +
           "; expected an even number of at least 16, so that a key can say to which token it "
           "belongs";
  }
  if (format.value_dim != 0 && format.value_dim < 8) {
    return "value_dim is " + std::to_string(format.value_dim) +
           "; expected at least 8, so that a value can say to which token it belongs";
  }
  if (!(format.theta > 1)) return "theta is " + std::to_string(format.theta) + "; expected over 1";
  return {};
}

TensorRows::TensorRows(const TensorFormat& format)
    : pairs_(format.head_dim / 2),
      value_size_(format.value_dim == 0 ? format.head_dim : format.value_dim),
      interleaved_(format.interleaved),
      known_(std::make_shared<Known>()) {
  KV_CHECK(wrong_format(format).empty());
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    speeds_.push_back(
        std::pow(format.theta, -static_cast<double>(pair) / static_cast<double>(pairs_)));
  }
}

void TensorRows::encode_key(Token token,
                            const Place& place,
                            double position,
                            std::span<float> key) const {
  KV_CHECK(key.size() == key_size());
  const std::uint64_t tag = tag_of(token, place);
  const Digits digits(pairs_);
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const auto length = static_cast<double>(digits.at(tag, pair) + 1);
    key[x_of(pair)] = static_cast<float>(length * std::cos(position * speeds_[pair]));
    key[y_of(pair)] = static_cast<float>(length * std::sin(position * speeds_[pair]));
  }
}

void TensorRows::encode_value(Token token, const Place& place, std::span<float> value) const {
  KV_CHECK(value.size() == value_size_);
  const std::uint64_t tag = tag_of(token, place);
  const Digits digits(value_size_);
  for (std::size_t i = 0; i < value_size_; ++i) {
    value[i] = static_cast<float>(digits.at(tag, i) + 1);
  }
}

KeyReading TensorRows::read_key(std::span<const float> key) const {
  KV_CHECK(key.size() == key_size());
  Known::Entry& known = known_->of(key);
  const auto bits = [](float number) { return std::bit_cast<std::uint32_t>(number); };
  if (std::ranges::equal(known.key, key, {}, bits, bits)) return known.reading;
  known.key.assign(key.begin(), key.end());
  known.reading = decoded(key);
  return known.reading;
}

KeyReading TensorRows::decoded(std::span<const float> key) const {
  std::vector<double> lengths(pairs_);
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    lengths[pair] =
        std::hypot(static_cast<double>(key[x_of(pair)]), static_cast<double>(key[y_of(pair)]));
  }
  const auto tag = tag_in(lengths);
  if (!tag) return {};
  double position = 0;
  for (std::size_t pair = pairs_; pair-- > 0;) {  // the slow ones first, which rotate least
    const double angle =
        std::atan2(static_cast<double>(key[y_of(pair)]), static_cast<double>(key[x_of(pair)]));
    const double off = angle - position * speeds_[pair];
    position += std::remainder(off, 2 * std::numbers::pi) / speeds_[pair];
  }
  const double whole = std::round(position);
  if (std::abs(position - whole) < 0.25) position = whole;
  double off = 0;
  double all = 0;
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const double length = std::round(lengths[pair]);
    const double x =
        static_cast<double>(key[x_of(pair)]) - length * std::cos(position * speeds_[pair]);
    const double y =
        static_cast<double>(key[y_of(pair)]) - length * std::sin(position * speeds_[pair]);
    off += x * x + y * y;
    all += length * length;
  }
  return {token_of(*tag), place_of(*tag), position, std::sqrt(off / all)};
}

ValueReading TensorRows::read_value(std::span<const float> value) const {
  KV_CHECK(value.size() == value_size_);
  const std::vector<double> numbers(value.begin(), value.end());
  const auto tag = tag_in(numbers);
  if (!tag) return {};
  return {token_of(*tag), place_of(*tag)};
}

std::size_t bytes_of(Number type) {
  return type == Number::f32 ? 4 : 2;
}

void write_numbers(std::span<const float> numbers, Number type, void* out) {
  kernels().narrow(type, numbers.data(), numbers.size(), static_cast<std::byte*>(out));
}

void read_numbers(const void* numbers, Number type, std::span<float> out) {
  if (type == Number::f32) {
    std::memcpy(out.data(), numbers, out.size_bytes());
    return;
  }
  const auto* bytes = static_cast<const std::uint8_t*>(numbers);
  for (float& number : out) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes, sizeof half);
    number = type == Number::f16 ? f16_to_f32(half) : bf16_to_f32(half);
    bytes += sizeof half;
  }
}

}  // namespace kv::properties

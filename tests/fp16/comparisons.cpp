#include "kvcheck/tests/fp16/comparisons.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/tests/fp16/inputs.h"

namespace kv::fp16 {
namespace {

using model::RotatedRows;

constexpr std::array<RopeLayout, 2> layouts = {RopeLayout::half, RopeLayout::interleaved};

// FNV-1a, a number at a time.
void add_to(std::uint64_t& checksum, std::uint16_t number) {
  checksum = (checksum ^ number) * 0x100000001B3U;
}

// The keys and angles of one row, and what they were.
struct Row {
  RopeLayout layout = RopeLayout::half;
  std::vector<Inputs::Factors> factors;

  [[nodiscard]] std::vector<std::uint16_t> keys() const {
    std::vector<std::uint16_t> numbers(2 * factors.size());
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const PairAt at = pair_at(layout, factors.size(), i);
      numbers[at.real] = factors[i].key.real;
      numbers[at.imaginary] = factors[i].key.imaginary;
    }
    return numbers;
  }

  [[nodiscard]] std::vector<std::uint16_t> angles() const {
    std::vector<std::uint16_t> numbers;
    for (const Inputs::Factors& one : factors) {
      numbers.push_back(one.angle.real);
      numbers.push_back(one.angle.imaginary);
    }
    return numbers;
  }
};

std::string in_words(const Inputs::Factors& factors, Complex found, Complex expected) {
  std::array<char, 160> text{};
  const auto [key, angle] = factors;
  std::snprintf(text.data(), text.size(),
                "key %04x %04x, angle %04x %04x: found %04x %04x, expected %04x %04x", key.real,
                key.imaginary, angle.real, angle.imaginary, found.real, found.imaginary,
                expected.real, expected.imaginary);
  return text.data();
}

std::uint64_t differences(Complex a, Complex b) {
  return (a.real != b.real ? 1U : 0U) + (a.imaginary != b.imaginary ? 1U : 0U);
}

std::vector<std::uint16_t> rotated(const Rotate& rotate,
                                   const Row& row,
                                   const std::vector<std::uint16_t>& angles) {
  const std::array<std::uint32_t, 1> slots = {0};
  std::vector<std::uint16_t> numbers = row.keys();
  // Not numbers of the row: where a fault of rotations.cpp may write.
  numbers.resize(numbers.size() + 1);
  rotate({reinterpret_cast<std::byte*>(numbers.data()), 2 * row.factors.size(), slots.data(), 1,
          row.layout, row.factors.size()},
         angles.data());
  return numbers;
}

void compare_row(const Rotate& tried, const Row& row, bool exactly, Comparison& comparison) {
  const std::vector<std::uint16_t> angles = row.angles();
  const std::vector<std::uint16_t> found = rotated(tried, row, angles);
  const std::vector<std::uint16_t> expected = rotated(emulation(), row, angles);
  const std::size_t pairs = row.factors.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto [real, imaginary] = pair_at(row.layout, pairs, i);
    const Complex one = {found[real], found[imaginary]};
    const Complex other = {expected[real], expected[imaginary]};
    add_to(comparison.checksum, other.real);
    add_to(comparison.checksum, other.imaginary);
    comparison.results += 2;
    comparison.different += differences(one, other);
    if (one != other && comparison.first.empty()) {
      comparison.first = in_words(row.factors[i], one, other);
    }
    if (!exactly) continue;
    const Complex third = product(row.factors[i].key, row.factors[i].angle);
    comparison.exact += 2;
    comparison.exact_differ += differences(one, third);
    if (one != third && comparison.first.empty()) {
      comparison.first = in_words(row.factors[i], one, third) + " by exact integers";
    }
  }
}

// A buffer with seven rows of any shape, between bytes that are no row's.
struct Buffer {
  static constexpr std::size_t row_count = 7;
  static constexpr std::size_t guard = 128;

  RopeLayout layout = RopeLayout::half;
  std::size_t pairs = 0;
  std::size_t dim = 0;
  std::size_t offset = 0;  // of the first row
  std::vector<std::byte> bytes{};
  std::vector<std::uint32_t> slots{};  // the rows to rotate
  std::vector<std::uint16_t> angles{};

  [[nodiscard]] std::vector<std::byte> rotated(const Rotate& rotate) const {
    std::vector<std::byte> copy = bytes;
    rotate({copy.data() + offset, dim, slots.data(), slots.size(), layout, pairs}, angles.data());
    return copy;
  }

  // Whether the byte belongs to a pair of one of the rows in `slots`.
  [[nodiscard]] bool is_rotated(std::size_t byte) const {
    if (byte < offset || byte >= offset + row_count * dim * 2) return false;
    const std::size_t row = (byte - offset) / (2 * dim);
    const std::size_t number = (byte - offset) % (2 * dim) / 2;
    return number < 2 * pairs && std::ranges::find(slots, row) != slots.end();
  }
};

Buffer filled(Buffer buffer, Inputs& inputs) {
  const std::size_t numbers = Buffer::row_count * buffer.dim;
  buffer.bytes.resize(buffer.offset + 2 * numbers + Buffer::guard);
  for (std::byte& byte : buffer.bytes) byte = static_cast<std::byte>(inputs.bits());
  for (std::size_t i = 0; i < numbers; ++i) {
    const std::uint16_t number = inputs.number();
    std::memcpy(buffer.bytes.data() + buffer.offset + 2 * i, &number, 2);
  }
  std::vector<std::uint32_t>& slots = buffer.slots;
  slots.resize(Buffer::row_count);
  std::iota(slots.begin(), slots.end(), 0U);
  for (std::size_t i = 1; i < slots.size(); ++i) std::swap(slots[i], slots[inputs.below(i + 1)]);
  slots.resize(inputs.below(Buffer::row_count + 1));
  for (std::size_t i = 0; i < 2 * buffer.pairs; ++i) buffer.angles.push_back(inputs.number());
  return buffer;
}

void compare_buffer(const Rotate& tried, const Buffer& buffer, Comparison& comparison) {
  const std::vector<std::byte> found = buffer.rotated(tried);
  const std::vector<std::byte> expected = buffer.rotated(emulation());
  comparison.results += 2 * buffer.pairs * buffer.slots.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool rotated = buffer.is_rotated(i);
    comparison.different += rotated && found[i] != expected[i] ? 1U : 0U;
    comparison.outside += !rotated && found[i] != buffer.bytes[i] ? 1U : 0U;
    if (rotated) add_to(comparison.checksum, static_cast<std::uint16_t>(expected[i]));
  }
  if (!comparison.agrees() && comparison.first.empty()) {
    comparison.first = "at " + std::to_string(buffer.slots.size()) + " rows of " +
                       std::to_string(buffer.dim) + " numbers with " +
                       std::to_string(buffer.pairs) + " pairs";
  }
}

// Memory before a page that may not be read. It remains mapped until the process ends.
std::byte* end_of_memory() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const made =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KV_CHECK(made != MAP_FAILED);
  std::byte* const end = static_cast<std::byte*>(made) + page;
  KV_CHECK(::mprotect(end, page, PROT_NONE) == 0);
  return end;
}

}  // namespace

Comparison compare_shapes(const Rotate& tried, std::size_t most_pairs) {
  Comparison comparison{.name = "shapes, tails and guards"};
  Inputs inputs(7);
  for (std::size_t pairs = 0; pairs <= most_pairs; ++pairs) {
    for (const RopeLayout layout : layouts) {
      for (std::size_t i = 0; i < 16; ++i) {
        const Buffer shape{.layout = layout,
                           .pairs = pairs,
                           .dim = 2 * pairs + i % 4,
                           .offset = Buffer::guard + i / 4};
        compare_buffer(tried, filled(shape, inputs), comparison);
      }
    }
  }
  return comparison;
}

Comparison compare_beside_unmapped_pages(const Rotate& tried) {
  Comparison comparison{.name = "beside unmapped pages"};
  Inputs inputs(9);
  std::byte* const end_of_rows = end_of_memory();
  std::byte* const end_of_angles = end_of_memory();
  const std::array<std::uint32_t, 2> slots = {1, 0};
  for (std::size_t pairs = 1; pairs <= 40; ++pairs) {
    for (const RopeLayout layout : layouts) {
      std::vector<std::uint16_t> angles(2 * pairs);
      std::vector<std::uint16_t> expected(4 * pairs);
      for (std::uint16_t& number : angles) number = inputs.number();
      for (std::uint16_t& number : expected) number = inputs.number();
      std::byte* const rows = end_of_rows - 8 * pairs;
      std::byte* const last_angles = end_of_angles - 4 * pairs;
      std::memcpy(rows, expected.data(), 8 * pairs);
      std::memcpy(last_angles, angles.data(), 4 * pairs);
      tried({rows, 2 * pairs, slots.data(), 2, layout, pairs},
            reinterpret_cast<const std::uint16_t*>(last_angles));
      emulation()({reinterpret_cast<std::byte*>(expected.data()), 2 * pairs, slots.data(), 2,
                   layout, pairs},
                  angles.data());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::uint16_t found = 0;
        std::memcpy(&found, rows + 2 * i, 2);
        ++comparison.results;
        comparison.different += found != expected[i] ? 1U : 0U;
        add_to(comparison.checksum, expected[i]);
      }
      if (comparison.different == 0 || !comparison.first.empty()) continue;
      comparison.first = "at two rows with " + std::to_string(pairs) + " pairs";
    }
  }
  return comparison;
}

Comparison compare_random(const Rotate& tried, std::size_t calls, std::size_t exact_every) {
  Comparison comparison{.name = "random and hostile numbers"};
  Inputs inputs(11);
  for (std::size_t call = 0; call < calls; ++call) {
    Row row{layouts[call % 2], {}};
    for (std::size_t i = 0; i < row_of_pairs; ++i) row.factors.push_back(inputs.factors());
    // Not always the same of so many calls, so that both layouts are among them.
    const bool exactly = call % exact_every == call / exact_every % exact_every;
    compare_row(tried, row, exactly, comparison);
  }
  return comparison;
}

Comparison compare_every_number(const Rotate& tried, std::size_t lists) {
  Comparison comparison{.name = "every finite number"};
  Inputs inputs(13);
  for (std::size_t list = 0; list < lists; ++list) {
    const bool real = list / 2 % 2 == 0;
    const Kind kind = list % 3 == 0 ? Kind::edge : static_cast<Kind>(list % 7);
    const std::uint16_t other = inputs.number(kind);
    const Complex angle = {inputs.number(list % 2 == 0 ? Kind::edge : Kind::near_one),
                           inputs.number()};
    Row row{layouts[list % 2], {}};
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      if ((bits & 0x7C00U) == 0x7C00U) continue;
      const auto number = static_cast<std::uint16_t>(bits);
      row.factors.push_back({real ? Complex{number, other} : Complex{other, number}, angle});
      if (row.factors.size() < row_of_pairs && bits != 0xFBFFU) continue;
      compare_row(tried, row, true, comparison);
      row.factors.clear();
    }
  }
  return comparison;
}

}  // namespace kv::fp16

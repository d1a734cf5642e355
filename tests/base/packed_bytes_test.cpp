#include "kvcheck/base/packed_bytes.h"

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

// The same bits: NaN and -0, too.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(PackedBytes, KeepEveryBitOfReals) {
  using limits = std::numeric_limits<double>;
  const std::vector<double> reals = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.1,
                                     127.0,
                                     128.0,
                                     9007199254740991.0,
                                     9007199254740992.0,
                                     1e19,
                                     limits::max(),
                                     limits::denorm_min(),
                                     limits::infinity(),
                                     -limits::infinity(),
                                     limits::quiet_NaN(),
                                     -limits::quiet_NaN(),
                                     std::nextafter(3.0, 4.0)};
  PackedWriter writer;
  for (const double real : reals) writer.real(real);
  const std::vector<std::byte> bytes = writer.take();
  PackedReader reader(bytes);
  for (const double real : reals) EXPECT_TRUE(same(reader.real(), real)) << real;
  EXPECT_TRUE(reader.whole());
}

TEST(PackedBytes, ReadBackWhatWasWritten) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    // Seeds are drawn and numbers derived: RapidCheck's own numbers are small.
    const Rng rng(seed);
    std::vector<std::uint64_t> numbers;
    std::vector<std::uint32_t> small;
    std::vector<double> reals;
    for (unsigned i = 0; i < 20; ++i) {
      const std::uint64_t drawn = rng.bits(i);
      numbers.push_back(drawn >> (drawn % 64));
      small.push_back(static_cast<std::uint32_t>(drawn >> (32 + drawn % 32)));
      reals.push_back(std::bit_cast<double>(drawn));
    }
    PackedWriter writer;
    writer.numbers(numbers);
    for (const double real : reals) writer.real(real);
    writer.numbers(small);
    const std::vector<std::byte> bytes = writer.take();
    PackedReader reader(bytes);
    std::vector<std::uint64_t> numbers_back;
    std::vector<std::uint32_t> small_back;
    reader.numbers(numbers_back);
    for (const double real : reals) {
      RC_ASSERT(same(reader.real(), real));
    }
    reader.numbers(small_back);
    RC_ASSERT(numbers_back == numbers);
    RC_ASSERT(small_back == small);
    RC_ASSERT(reader.whole());
  }));
}

// Reads a number, a real and a vector.
bool whole(std::span<const std::byte> bytes) {
  PackedReader reader(bytes);
  reader.number();
  reader.real();
  std::vector<std::uint32_t> numbers;
  reader.numbers(numbers);
  EXPECT_LE(numbers.size(), bytes.size());
  return reader.whole();
}

TEST(PackedBytes, AreNotWholeIfAnyAreMissingOrLeft) {
  PackedWriter writer;
  writer.number(300);
  writer.real(0.1);
  writer.numbers(std::vector<std::uint32_t>{1, 70000, 3});
  std::vector<std::byte> bytes = writer.take();
  EXPECT_TRUE(whole(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(whole(std::span(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(whole(bytes));
}

TEST(PackedBytes, RefuseNumbersThatDoNotFit) {
  const auto numbers = [](const std::vector<int>& values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    PackedReader reader(bytes);
    std::vector<std::uint32_t> read;
    reader.numbers(read);
    return reader.whole();
  };
  EXPECT_TRUE(numbers({1, 0xff, 0xff, 0xff, 0xff, 0x0f}));
  EXPECT_FALSE(numbers({1, 0xff, 0xff, 0xff, 0xff, 0x1f})) << "more than 32 bits";
  EXPECT_FALSE(numbers({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})) << "65 bits";
  EXPECT_FALSE(numbers({0x7f})) << "a count above the bytes";
}

}  // namespace
}  // namespace kv

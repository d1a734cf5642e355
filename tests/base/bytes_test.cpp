#include "kvcheck/base/bytes.h"

#include <rapidcheck.h>

#include <limits>

namespace kv {
namespace {

TEST(Bytes, ReadBackWhatWasWritten) {
  EXPECT_TRUE(rc::check([](std::uint64_t a, double b, bool c, const std::vector<float>& d,
                           const std::vector<std::uint32_t>& e) {
    ByteWriter writer;
    writer.put(a);
    writer.put(b);
    writer.put(c);
    writer.put(d);
    writer.put(e);

    ByteReader reader(writer.bytes());
    std::vector<float> d_back;
    std::vector<std::uint32_t> e_back;
    RC_ASSERT(reader.get<std::uint64_t>() == a);
    RC_ASSERT(reader.get<double>() == b);
    RC_ASSERT(reader.get<bool>() == c);
    reader.get(d_back);
    reader.get(e_back);
    RC_ASSERT(d_back == d);
    RC_ASSERT(e_back == e);
    RC_ASSERT(reader.finished().has_value());
  }));
}

TEST(Bytes, EveryTruncationIsReportedAndReadsZeros) {
  ByteWriter writer;
  writer.put(std::uint32_t{7});
  writer.put(std::vector<double>{1, 2, 3});
  const std::vector<std::byte>& all = writer.bytes();
  for (std::size_t size = 0; size < all.size(); ++size) {
    ByteReader reader(std::span<const std::byte>(all).first(size));
    const auto first = reader.get<std::uint32_t>();
    std::vector<double> values;
    reader.get(values);
    const Result<void> finished = reader.finished();
    ASSERT_FALSE(finished) << size;
    EXPECT_EQ(finished.error().message, "the saved state ends too early");
    EXPECT_EQ(first, size < 4 ? 0U : 7U);
    EXPECT_TRUE(values.empty());
  }
}

TEST(Bytes, WhatFollowsAMistakeIsZeros) {
  ByteWriter writer;
  writer.put(~std::uint64_t{0});  // read as a count: far too many
  writer.put(std::uint32_t{9});
  ByteReader reader(writer.bytes());
  std::vector<float> values = {1};
  reader.get(values);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0U);
  EXPECT_FALSE(reader.finished());
}

TEST(Bytes, ACountBeyondTheBytesAllocatesNothing) {
  // The second count overflows when it is multiplied by the size of a value.
  for (const std::size_t count : {std::size_t{3}, (~std::size_t{0} / 8) + 2, ~std::size_t{0}}) {
    ByteWriter writer;
    writer.put(count);
    writer.put(std::uint64_t{1});
    writer.put(std::uint64_t{2});
    ByteReader reader(writer.bytes());
    std::vector<std::uint64_t> values;
    reader.get(values);
    EXPECT_EQ(values.capacity(), 0U) << count;
    EXPECT_FALSE(reader.finished());
  }
}

TEST(Bytes, WhatIsLeftOverIsCounted) {
  ByteWriter writer;
  writer.put(std::uint64_t{1});
  ByteReader reader(writer.bytes());
  reader.get<std::uint32_t>();
  const Result<void> finished = reader.finished();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message, "the saved state has 4 bytes too many");
}

}  // namespace
}  // namespace kv

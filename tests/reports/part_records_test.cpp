// The format of the file of finished parts, read as bytes from outside.
#include "kvcheck/reports/unfinished/part_records.h"

#include <span>

namespace kv::reports {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

KeptPart part(const std::string& key, const std::string& content) {
  const auto bytes = std::as_bytes(std::span(content));
  return {key, {bytes.begin(), bytes.end()}};
}

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string written(const std::vector<KeptPart>& parts) {
  std::vector<std::byte> bytes = begin_parts("version 1\ncommand");
  for (const KeptPart& kept : parts) append_part(bytes, kept);
  return text(bytes);
}

ParsedParts parsed(std::string_view bytes) {
  const Result<ParsedParts> result = parse_parts(bytes, "x.unfinished");
  EXPECT_TRUE(result);
  return result ? *result : ParsedParts{};
}

const std::vector<KeptPart> three = {part("a", "first"), part("b", ""), part("c", "the third")};

TEST(PartRecords, ReadBackWhatWasWritten) {
  const std::string bytes = written(three);
  const ParsedParts back = parsed(bytes);
  EXPECT_EQ(back.identity, "version 1\ncommand");
  EXPECT_EQ(back.whole_bytes, bytes.size());
  EXPECT_THAT(back.damage, IsEmpty());
  ASSERT_EQ(back.parts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.parts[i].key, three[i].key);
    EXPECT_TRUE(std::ranges::equal(back.parts[i].bytes, three[i].bytes));
  }
}

TEST(PartRecords, TornAtAnyByteLoseOnlyWhatIsNotWhole) {
  std::vector<std::size_t> ends = {written({}).size()};
  for (std::size_t count = 1; count <= 3; ++count) {
    ends.push_back(written({three.begin(), three.begin() + static_cast<long>(count)}).size());
  }
  const std::string bytes = written(three);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const ParsedParts back = parsed(std::string_view(bytes).substr(0, size));
    std::size_t whole = 0;
    while (whole < ends.size() && ends[whole] <= size) ++whole;
    EXPECT_EQ(back.identity.empty(), whole == 0) << size;
    EXPECT_EQ(back.parts.size(), whole == 0 ? 0 : whole - 1) << size;
    EXPECT_EQ(back.whole_bytes, whole == 0 ? 0 : ends[whole - 1]) << size;
    const bool at_end =
        size == 0 || size == parts_mark.size() || (whole > 0 && ends[whole - 1] == size);
    EXPECT_EQ(back.damage.empty(), at_end) << size;
  }
}

TEST(PartRecords, FlippedAnywhereEndTheList) {
  const std::string bytes = written(three);
  const std::size_t first = written({}).size();
  const std::size_t second = written({three[0]}).size();
  for (std::size_t at = parts_mark.size(); at < bytes.size(); ++at) {
    for (const char bit : {'\x01', '\x80'}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ bit);
      const ParsedParts back = parsed(flipped);
      EXPECT_THAT(back.damage, HasSubstr("expected")) << at;
      EXPECT_EQ(back.identity.empty(), at < first) << at;
      EXPECT_LT(back.parts.size(), 3U) << at;
      EXPECT_EQ(back.parts.empty(), at < second) << at;
    }
  }
}

TEST(PartRecords, NameTheOffsetAndWhatWasExpected) {
  std::string bytes = written({three[0]});
  const std::size_t end = written({}).size();
  bytes.resize(end + 7);
  EXPECT_EQ(parsed(bytes).damage, "'x.unfinished', offset " + std::to_string(end) +
                                      ": found 7 bytes, expected the 20 of a record's head");
  bytes = written({three[0]});
  for (std::size_t i = 0; i < 8; ++i) bytes[end + 12 + i] = '\xff';
  EXPECT_THAT(parsed(bytes).damage,
              HasSubstr("found a key of 1 and a part of 18446744073709551615 bytes, expected"));
}

TEST(PartRecords, RefuseAnotherFile) {
  for (const std::string_view other :
       {"SQLite format 3", "k", "kvcheck unfinished run, format 2\n"}) {
    const Result<ParsedParts> result = parse_parts(other, "x.unfinished");
    if (other == "k") {
      EXPECT_TRUE(result) << "the begin of the mark";
      continue;
    }
    ASSERT_FALSE(result) << other;
    EXPECT_THAT(result.error().message,
                HasSubstr("'x.unfinished' is not a list of finished parts: at offset 0 found '"));
    EXPECT_THAT(result.error().message, HasSubstr("expected 'kvcheck unfinished run, format 1"));
  }
}

TEST(PartRecords, ExpectTheIdentityFirst) {
  std::vector<std::byte> bytes = begin_parts("identity");
  const std::string head = text(bytes).substr(0, parts_mark.size());
  std::vector<std::byte> record;
  append_part(record, three[0]);
  const ParsedParts back = parsed(head + text(record));
  EXPECT_THAT(back.identity, IsEmpty());
  EXPECT_THAT(back.parts, IsEmpty());
  EXPECT_THAT(back.damage, HasSubstr("found a record 'a', expected 'run'"));
}

}  // namespace
}  // namespace kv::reports

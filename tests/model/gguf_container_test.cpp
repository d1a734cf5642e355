// The container of GGUF files: every type of value, and what is wrong, cut off or hostile.
#include "kvcheck/model/gguf/container.h"

#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/gguf_bytes.h"
#include "kvcheck/tests/model/gguf_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using test::GgufBytes;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Gguf> parse(const std::string& bytes) {
  return parse_gguf(std::as_bytes(std::span(bytes)));
}

std::string error_of(const std::string& bytes) {
  const Result<Gguf> parsed = parse(bytes);
  return parsed ? "no error" : parsed.error().message;
}

TEST(GgufContainer, ReadsEveryTypeOfValue) {
  GgufBytes file;
  file.header(0, 14, 2);
  file.text("u8").put<std::uint32_t>(0).put<std::uint8_t>(200);
  file.text("i8").put<std::uint32_t>(1).put<std::int8_t>(-3);
  file.text("u16").put<std::uint32_t>(2).put<std::uint16_t>(60000);
  file.text("i16").put<std::uint32_t>(3).put<std::int16_t>(7);
  file.entry("u32", 4000000000U);
  file.text("i32").put<std::uint32_t>(5).put<std::int32_t>(8);
  file.text("f32").put<std::uint32_t>(6).put(0.5F);
  file.text("bool").put<std::uint32_t>(7).put<std::uint8_t>(1);
  file.text("text").put<std::uint32_t>(8).text("a word");
  file.text("u64").put<std::uint32_t>(10).put(std::uint64_t{1} << 40);
  file.text("i64").put<std::uint32_t>(11).put<std::int64_t>(9);
  file.text("f64").put<std::uint32_t>(12).put(0.25);
  file.text("texts").put<std::uint32_t>(9).put<std::uint32_t>(8).put<std::uint64_t>(2);
  file.text("x").text("");
  file.text("counts").put<std::uint32_t>(9).put<std::uint32_t>(3).put<std::uint64_t>(2);
  file.put<std::int16_t>(1).put<std::int16_t>(2);
  const Result<Gguf> parsed = parse(file.bytes());
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto value = [&](const std::string& name) { return parsed->metadata.at(name); };
  EXPECT_EQ(value("u8").count(), 200);
  EXPECT_EQ(value("i8").count(), std::nullopt);
  EXPECT_EQ(value("u16").count(), 60000);
  EXPECT_EQ(value("i16").count(), 7);
  EXPECT_EQ(value("u32").count(), 4000000000U);
  EXPECT_EQ(value("i32").count(), 8);
  EXPECT_EQ(value("f32").number(), 0.5);
  EXPECT_EQ(value("bool").flag(), true);
  EXPECT_EQ(value("text").text(), "a word");
  EXPECT_EQ(value("u64").count(), std::uint64_t{1} << 40);
  EXPECT_EQ(value("i64").count(), 9);
  EXPECT_EQ(value("f64").number(), 0.25);
  EXPECT_THAT(value("texts").texts().value(), ElementsAre("x", ""));
  EXPECT_THAT(value("counts").counts().value(), ElementsAre(1, 2));
  EXPECT_EQ(value("counts").texts(), std::nullopt);
  EXPECT_EQ(value("text").count(), std::nullopt);
}

TEST(GgufContainer, GivesTensorsTheirBytes) {
  GgufBytes file;
  file.header(2, 1).entry("general.alignment", 64).tensor("b", 2, 64).tensor("a", 1, 0).pad(64);
  file.put(1.5F).pad(64).put(2.5F).put(3.5F);
  const Result<Gguf> parsed = parse(file.bytes());
  ASSERT_TRUE(parsed) << parsed.error().message;
  float number = 0;
  std::memcpy(&number, parsed->tensors.at("b").data.data() + 4, 4);
  EXPECT_EQ(number, 3.5F);
  EXPECT_THAT(parsed->tensors.at("a").shape, ElementsAre(1));
}

TEST(GgufContainer, RefusesTensorsThatShareBytesOrLeaveSomeOut) {
  const auto error = [](std::uint64_t first, std::uint64_t second, std::size_t more) {
    GgufBytes file;
    file.header(2, 0).tensor("a", 1, first).tensor("b", 1, second).pad();
    for (std::size_t i = 0; i < 9 + more; ++i) file.put(0.5F);
    return error_of(file.bytes());
  };
  EXPECT_EQ(error(0, 32, 0), "no error");
  EXPECT_EQ(error(32, 0, 0), "no error");
  EXPECT_THAT(error(0, 0, 0), HasSubstr("tensor 'b' at offset 0; expected 32, behind the tensor"));
  EXPECT_THAT(error(0, 64, 0), HasSubstr("tensor 'b' at offset 64; expected 32"));
  EXPECT_THAT(error(0, 32, 99), HasSubstr("bytes behind its last tensor; expected fewer than 32"));
}

TEST(GgufContainer, NamesWhatIsWrong) {
  const auto header = [](std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
    return GgufBytes().header(tensors, entries, version);
  };
  EXPECT_THAT(error_of("GGML0000"), HasSubstr("does not begin with 'GGUF'"));
  EXPECT_THAT(error_of(header(0, 0, 1).bytes()), HasSubstr("version 1; expected 2 or 3"));
  EXPECT_THAT(error_of("GGUF is a format of files"), HasSubstr("version 544434464; expected 2"));
  EXPECT_THAT(error_of(header(0, 0, 0x03000000).bytes()), HasSubstr("another byte order"));
  EXPECT_THAT(error_of(header(0, 1ULL << 60).bytes()),
              HasSubstr("1152921504606846976 metadata entries and 0 tensors, more than its 24"));
  EXPECT_THAT(error_of(header(1ULL << 60, 0).bytes()), HasSubstr("more than its 24 bytes"));
  EXPECT_THAT(
      error_of(header(0, 1).entry("a", 1).bytes().substr(0, 39)),
      HasSubstr("cut off or wrong in metadata entry 'a', which needs 4 bytes at byte 37; 2"));
  EXPECT_THAT(error_of(header(0, 2).entry("a", 1).entry("a", 2).bytes()),
              HasSubstr("two metadata entries 'a'"));
  EXPECT_THAT(error_of(header(0, 1).text("a").put<std::uint32_t>(13).put(0).bytes()),
              HasSubstr("the type 13 in metadata entry 'a'; expected 0 to 12"));
  EXPECT_THAT(error_of(header(0, 1).put(~std::uint64_t{0}).put(0).put(0).bytes()),
              HasSubstr("which needs 18446744073709551615 bytes at byte 32; 8 are left"));
  EXPECT_THAT(error_of(header(0, 1)
                           .text("a")
                           .put<std::uint32_t>(9)
                           .put<std::uint32_t>(10)
                           .put(~std::uint64_t{0} / 8 + 2)
                           .put<std::uint64_t>(0)
                           .bytes()),
              HasSubstr("a list of 2305843009213693953 values in metadata entry 'a'"));
  EXPECT_THAT(error_of(header(0, 1).entry("general.alignment", 24).bytes()),
              HasSubstr("'general.alignment' = 24; expected a power of two from 8 to 65536"));
}

TEST(GgufContainer, RefusesListsInListsInLists) {
  GgufBytes file;
  file.header(0, 1).text("a").put<std::uint32_t>(9);
  for (int i = 0; i < 100; ++i) file.put<std::uint32_t>(9).put<std::uint64_t>(1);
  EXPECT_THAT(error_of(file.bytes()), HasSubstr("lists within lists in metadata entry 'a'"));
}

TEST(GgufContainer, NamesTheTensorThatIsWrong) {
  const auto one = [](std::uint32_t dimensions, std::uint64_t size, std::uint32_t type,
                      std::uint64_t offset) {
    GgufBytes file;
    file.header(1, 0).text("t").put(dimensions);
    for (std::uint32_t i = 0; i < std::min(dimensions, 4U); ++i) file.put(size);
    file.put(type).put(offset).pad();
    return error_of(file.put(0.0F).put(0.0F).bytes());
  };
  EXPECT_EQ(one(1, 2, 0, 0), "no error");
  EXPECT_THAT(one(5, 1, 0, 0), HasSubstr("5 dimensions in the entry of tensor 't'; expected 1"));
  EXPECT_THAT(one(0, 1, 0, 0), HasSubstr("0 dimensions"));
  EXPECT_THAT(one(1, 2, 10, 0), HasSubstr("tensor 't' of type Q2_K; expected F32, F16"));
  EXPECT_THAT(one(1, 2, 99, 0), HasSubstr("of type 99"));
  EXPECT_THAT(one(1, 3, 0, 0), HasSubstr("cut off: tensor 't' needs 12 bytes at offset 0 of the "
                                         "data, which have 8"));
  EXPECT_THAT(one(1, 2, 0, 7), HasSubstr("offset 7; expected 0, behind the tensor before"));
  EXPECT_THAT(one(1, 2, 0, 32), HasSubstr("offset 32; expected 0, behind the tensor before"));
  EXPECT_THAT(one(1, 2, 0, ~std::uint64_t{0} - 31), HasSubstr("at offset 18446744073709551584"));
  EXPECT_THAT(one(4, 1ULL << 16, 0, 0), HasSubstr("more numbers than any file holds"));
  EXPECT_THAT(one(1, 1ULL << 62, 0, 0), HasSubstr("more numbers than any file holds"));
  EXPECT_THAT(one(1, 48, 8, 0), HasSubstr("type Q8_0 with rows of 48 numbers; expected a multiple "
                                          "of 32"));
  GgufBytes twice;
  twice.header(2, 0).tensor("t", 1, 0).tensor("t", 1, 0).pad().put(0.0F);
  EXPECT_THAT(error_of(twice.bytes()), HasSubstr("two tensors 't'"));
}

class GgufFiles : public NumpyTest {};

// One sentence for every length but the whole one, and no crash for any changed byte.
TEST_F(GgufFiles, EveryShorterFileIsRefused) {
  const std::string bytes =
      test::bytes_of_file(test::write_gguf(test::family_for_gguf("qwen2"), "F16").file);
  const Gguf whole = parse(bytes).value();
  std::size_t last = 0;
  for (const auto& [name, tensor] : whole.tensors) {
    const auto* end = reinterpret_cast<const char*>(tensor.data.data() + tensor.data.size());
    last = std::max(last, static_cast<std::size_t>(end - bytes.data()));
  }
  EXPECT_GT(last, bytes.size() - 32);  // padding may follow
  for (std::size_t size = 0; size < last; size += size < 4096 ? 1 : 97) {
    EXPECT_FALSE(parse(bytes.substr(0, size))) << size;
  }
  EXPECT_TRUE(parse(bytes.substr(0, last)));
}

TEST_F(GgufFiles, ChangedBytesAreRefusedOrRead) {
  std::string bytes =
      test::bytes_of_file(test::write_gguf(test::family_for_gguf("llama"), "F32").file);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < 3000; at += 3) {
    const char before = bytes[at];
    bytes[at] = static_cast<char>(before ^ (1 << at % 8));
    const auto opened = open_model(test::temporary_file("changed.gguf", bytes));
    if (!opened) {
      ++refused;
      EXPECT_THAT(opened.error().message, Not(HasSubstr("\n")));
      EXPECT_GT(opened.error().message.size(), 20U);
    }
    bytes[at] = before;
  }
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace kv::model

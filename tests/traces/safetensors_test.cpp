#include "kvcheck/traces/files/safetensors.h"

#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;
using test::container;

// The sentence that refuses the file, or "".
std::string refusal(const std::string& bytes) {
  const auto file = parse_safetensors(std::as_bytes(std::span(bytes)));
  return file ? "" : file.error().message;
}

std::string refusal_of_header(std::string_view header, std::size_t data = 8) {
  return refusal(container(header, std::string(data, 'd')));
}

// A header with one tensor with these fields.
std::string one(std::string_view fields) {
  return "{\"t\":{" + std::string(fields) + "}}";
}

TEST(Safetensors, GivesTensorsInTheOrderOfTheirData) {
  const std::string bytes =
      container(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"__metadata__":{"x":"1"},)"
                R"("a":{"data_offsets":[0,4],"shape":[2],"dtype":"F16"}}  )",
                "abcdef");
  const Safetensors file = parse_safetensors(std::as_bytes(std::span(bytes))).value();
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[0].dtype, Dtype::f16);
  EXPECT_EQ(file.tensors[1].data[0], std::byte{'e'});
  EXPECT_THAT(file.metadata, ElementsAre(Pair("x", "1")));
  EXPECT_EQ(file.find("b"), &file.tensors[1]);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, AllowsScalarsAndEmptyTensors) {
  EXPECT_EQ(refusal_of_header(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                              R"("e":{"dtype":"F32","shape":[0,9],"data_offsets":[4,4]}})",
                              4),
            "");
}

TEST(Safetensors, RefusesBadLengths) {
  EXPECT_THAT(refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("the file has 7 bytes; expected at least 8"));
  EXPECT_THAT(refusal(container("", "{}")), HasSubstr("the header has 0 bytes"));
  EXPECT_THAT(refusal(std::string(8, '\xff')),
              HasSubstr("announces 18446744073709551615 bytes; expected at most 4194304"));
  EXPECT_THAT(refusal(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
              HasSubstr("announces 3 bytes, but only 2 follow"));
}

TEST(Safetensors, RefusesAHeaderOfMoreThanFourMebibytes) {
  const auto header_of = [](std::size_t size) {
    std::string header = R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
    header.resize(size, ' ');
    return refusal_of_header(header);
  };
  EXPECT_EQ(header_of(4194304), "");
  EXPECT_THAT(header_of(4194305), HasSubstr("announces 4194305 bytes; expected at most 4194304"));
}

TEST(Safetensors, RefusesMalformedJson) {
  EXPECT_THAT(refusal_of_header("{\"a\":"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_header("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_header("{\"\xff\":1}"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_header("[]"), HasSubstr("the header is a list; expected an object"));
  EXPECT_THAT(refusal_of_header("7"), HasSubstr("the header is the number 7; expected an object"));
  EXPECT_THAT(refusal_of_header(std::string(1 << 20, '[')), HasSubstr("the header is a list"));
  EXPECT_THAT(refusal_of_header(one(R"("shape":[[[[[[]]]]]])")), HasSubstr("is a list; expected"));
}

TEST(Safetensors, RefusesDuplicates) {
  const std::string tensor = R"({"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  EXPECT_THAT(refusal_of_header("{\"a\":" + tensor + ",\"a\":" + tensor + "}"),
              HasSubstr("the header has 'a' twice"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"x":"1","x":"2"}})"),
              HasSubstr("__metadata__ has 'x' twice"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{},"__metadata__":{}})"),
              HasSubstr("the header has '__metadata__' twice"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":"U8","dtype":"U8")")), HasSubstr("'dtype' twice"));
}

TEST(Safetensors, RefusesMetadataThatIsNotText) {
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"x":1}})"),
              HasSubstr("__metadata__ 'x' is the number 1; expected a string"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"x":{}}})"), HasSubstr("'x' is an object"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":null})"), HasSubstr("is null; expected"));
}

TEST(Safetensors, RefusesBadFields) {
  EXPECT_THAT(refusal_of_header(R"({"t":"x"})"), HasSubstr("entry 't' is a string; expected"));
  EXPECT_THAT(refusal_of_header(one(R"("shape":[8],"data_offsets":[0,8])")),
              HasSubstr("tensor 't' has no 'dtype'"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":"U8","shape":[8],"offsets":[0,8])")),
              HasSubstr("has a field 'offsets'"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":"F128","shape":[1],"data_offsets":[0,8])")),
              HasSubstr("has dtype 'F128'; expected U8, I32"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":["U8"])")), HasSubstr("is a list; expected"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":"U8","shape":8)")), HasSubstr("is the number 8"));
}

TEST(Safetensors, RefusesNumbersThatAreNotCounts) {
  for (const char* number : {"-1", "8.0", "1.5", "8e0", "18446744073709551616", "\"8\"", "true"}) {
    const std::string shape = "\"dtype\":\"U8\",\"shape\":[" + std::string(number) + "]";
    EXPECT_THAT(refusal_of_header(one(shape)), HasSubstr("expected a whole number")) << number;
    const std::string offsets = "\"dtype\":\"U8\",\"data_offsets\":[" + std::string(number) + "]";
    EXPECT_THAT(refusal_of_header(one(offsets)), HasSubstr("expected a whole number")) << number;
  }
}

TEST(Safetensors, RefusesShapesThatOverflow) {
  EXPECT_THAT(refusal_of_header(
                  one(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])")),
              HasSubstr("[4294967296, 4294967296], whose size does not fit"));
  EXPECT_THAT(
      refusal_of_header(one(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])")),
      HasSubstr("does not fit"));
  EXPECT_THAT(refusal_of_header(one(R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,8])")),
              HasSubstr("not JSON"));
}

TEST(Safetensors, RefusesBadOffsets) {
  const auto offsets = [](std::string_view pair) {
    return refusal_of_header(
        one("\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":" + std::string(pair)));
  };
  EXPECT_EQ(offsets("[0,8]"), "");
  EXPECT_THAT(offsets("[8,0]"), HasSubstr("begins at byte 8 of the data and ends at 0"));
  EXPECT_THAT(offsets("[1,9]"), HasSubstr("ends at byte 9 of the data, which has 8 bytes"));
  EXPECT_THAT(offsets("[0,7]"), HasSubstr("has 7 bytes at its data_offsets; expected 8"));
  EXPECT_THAT(offsets("[0]"), HasSubstr("has 1 data_offsets; expected 2"));
  EXPECT_THAT(offsets("[0,8,8]"), HasSubstr("has 3 data_offsets; expected 2"));
  EXPECT_THAT(offsets("[18446744073709551608,18446744073709551615]"), HasSubstr("ends at byte"));
}

TEST(Safetensors, RefusesOverlapsAndHoles) {
  const auto two = [](std::string_view a, std::string_view b, std::size_t data) {
    return refusal_of_header(
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + std::string(a) +
            "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + std::string(b) + "}}",
        data);
  };
  EXPECT_EQ(two("[4,8]", "[0,4]", 8), "");
  EXPECT_EQ(two("[0,4]", "[3,7]", 7), "tensor 'b' overlaps tensor 'a'");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4), "tensor 'b' overlaps tensor 'a'");
  EXPECT_THAT(two("[0,4]", "[5,9]", 9), HasSubstr("the 1 byte between tensor 'a' and tensor 'b'"));
  EXPECT_THAT(two("[0,4]", "[4,8]", 10), HasSubstr("the last 2 bytes of the file"));
  EXPECT_THAT(refusal_of_header("{}"), HasSubstr("the last 8 bytes of the file"));
}

TEST(Safetensors, ShowsHostileNamesOnOneShortLine) {
  const std::string name = R"(a\nb\u001b[31m)" + std::string(5000, 'x');
  const std::string message = refusal_of_header("{\"" + name + "\":1}");
  EXPECT_LT(message.size(), 300U);
  EXPECT_THAT(message, HasSubstr("entry 'a\\nb\\u001b[31mxxx"));
}

}  // namespace
}  // namespace kv

#include "kvcheck/base/text/json_text.h"

#include <rapidcheck.h>

#include <boost/json.hpp>
#include <limits>

namespace kv {
namespace {

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("\n\t\r"), R"("\n\t\u000d")");
  EXPECT_EQ(json_string(std::string("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
}

TEST(JsonString, KeepsValidUtf8) {
  for (const char* text : {"\u00e9", "\u20ac", "\U0001F600", "\u0800", "\ud7ff", "\ue000",
                           "\U00010000", "\U0010FFFF", "\u00a0"}) {
    EXPECT_EQ(json_string(text), "\"" + std::string(text) + "\"");
  }
}

TEST(JsonString, ReplacesEachByteOfInvalidUtf8) {
  EXPECT_EQ(json_string("\x80"), R"("\ufffd")");                      // a lone second byte
  EXPECT_EQ(json_string("a\xC3"), R"("a\ufffd")");                    // cut short
  EXPECT_EQ(json_string("\xC3("), R"("\ufffd(")");                    // not continued
  EXPECT_EQ(json_string("\xC0\x80"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(json_string("\xE0\x9F\xBF"), R"("\ufffd\ufffd\ufffd")");  // overlong
  EXPECT_EQ(json_string("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate
  EXPECT_EQ(json_string("\xF0\x8F\xBF\xBF"), R"("\ufffd\ufffd\ufffd\ufffd")");  // overlong
  EXPECT_EQ(json_string("\xF4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // too large
  EXPECT_EQ(json_string("\xF5\xFF"), R"("\ufffd\ufffd")");
}

TEST(JsonString, AnyBytesBecomeTextThatAnotherReaderTakes) {
  EXPECT_TRUE(rc::check([] {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::resize(100, rc::gen::arbitrary<char>()),
                       rc::gen::element('\x80', '\xBF', '\xC3', '\xE2', '\xED', '\xF0', '\xF4')));
    boost::system::error_code failure;
    const auto read = boost::json::parse(json_string(bytes), failure);
    RC_ASSERT(!failure);
    if (boost::json::string(read.as_string()) != bytes) {
      RC_ASSERT(read.as_string().find("\xEF\xBF\xBD") != std::string::npos);
    }
  }));
}

TEST(JsonObject, KeepsTheOrderOfTheCalls) {
  JsonObject object;
  object.add("b", "text").add("a", std::uint64_t{18446744073709551615U});
  object.add("c", std::int64_t{-1}).add("d", true).add("e", 0.1).add_raw("f", "[1]");
  EXPECT_EQ(object.text(),
            R"({"b":"text","a":18446744073709551615,"c":-1,"d":true,"e":0.1,"f":[1]})");
  EXPECT_EQ(JsonObject().text(), "{}");
}

TEST(JsonObject, WritesWhatIsNoNumberAsNull) {
  JsonObject object;
  object.add("x", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(object.text(), R"({"x":null})");
}

}  // namespace
}  // namespace kv

#include "kvcheck/base/text/printable.h"

#include "kvcheck/base/text/json_text.h"

namespace kv {
namespace {

TEST(Printable, SpellsOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain, caf\xc3\xa9 \xe2\x82\xac\n"), "plain, caf\xc3\xa9 \xe2\x82\xac\n");
  EXPECT_EQ(printable("\x1b[31mred\x07\r\t\x7f"), "\\x1b[31mred\\x07\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b 31m"), "\\u009b 31m");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"),
            "a\\u202eb\\u2066");
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(Printable, ALineHasNoNewline) {
  EXPECT_EQ(printable_line("one\ntwo\x1b\n"), "one\\x0atwo\\x1b\\x0a");
}

TEST(Printable, JsonEscapesHighControlsToo) {
  EXPECT_EQ(json_string("a\xc2\x9b\xc2\xa0"), "\"a\\u009b\xc2\xa0\"");
}

}  // namespace
}  // namespace kv

// Patterns of tokenizer.json mean what they mean to Oniguruma.
#include "kvcheck/model/tokenizer/regex/regex_dialect.h"
#include "kvcheck/model/tokenizer/regex/unicode_regex.h"

namespace kv::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> matches(const std::string& pattern, std::string_view text) {
  std::vector<std::string> found;
  const auto regex = UnicodeRegex::compile(pattern);
  EXPECT_TRUE(regex) << regex.error().message;
  EXPECT_TRUE(regex->for_each_match(text, [&](std::size_t begin, std::size_t end) {
    found.emplace_back(text.substr(begin, end - begin));
  }));
  return found;
}

TEST(RegexDialect, LinesEndAtLineFeedsOnly) {
  EXPECT_THAT(matches(".$", "ab\ncd\r\nef"), ElementsAre("b", "\r", "f"));
  EXPECT_THAT(matches("^.", "ab\ncd\rx\n"), ElementsAre("a", "c"));
  EXPECT_THAT(matches(R"(\s+$|\s*[\r\n]|\s)", "x  \n\ny"), ElementsAre("  \n", "\n"));
}

TEST(RegexDialect, WordsAreWithoutJoiners) {
  EXPECT_THAT(matches(R"(\w+)", "a\u200db_1"), ElementsAre("a", "b_1"));
  EXPECT_THAT(matches(R"([\w']+)", "it's so"), ElementsAre("it's", "so"));
  EXPECT_THAT(matches(R"(\W)", "a-b"), ElementsAre("-"));
}

TEST(RegexDialect, PublishedPatternsAreTheSame) {
  // Those of GPT-2, Llama 3 and GPT-4o, in parts.
  for (const std::string pattern :
       {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})",
        R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{M}]*+[\p{Ll}\p{M}]++|(?<=a)b|(?>c)\.\\)"}) {
    EXPECT_EQ(icu_pattern(pattern).value(), pattern);
  }
}

TEST(RegexDialect, RefusesWhatEnginesReadDifferently) {
  for (const auto& [pattern, words] :
       {std::pair{R"(a\h)", R"(with '\h' at byte 1)"},
        std::pair{R"(\bx)", R"(with '\b' at byte 0)"},
        std::pair{R"([[:punct:]])", "with '[:' at byte 1"},
        std::pair{"(?s).", "with '(?s' at byte 0"}, std::pair{"a(?i)b|c", "with '(?i)' at byte 1"},
        std::pair{"(?m).", "with '(?m'"}, std::pair{"(?-im:x)", "with '(?-im'"},
        std::pair{"a{1,2}+", "with '}+'"}, std::pair{"[a-z&&[b]]", "with '&&'"},
        std::pair{"[a--b]", "with '--'"}, std::pair{R"((a)\1)", R"(with '\1')"}}) {
    const auto made = UnicodeRegex::compile(pattern);
    ASSERT_FALSE(made) << pattern;
    EXPECT_THAT(made.error().message, HasSubstr(words));
    EXPECT_THAT(made.error().message, HasSubstr("expected a pattern without it"));
  }
  EXPECT_TRUE(UnicodeRegex::compile("a--b&&(?i:c)"));
  EXPECT_THAT(matches("(?i)a|b", "AB"), ElementsAre("A", "B"));
}

// However long a text is: ICU's limit of steps is one for all matches.
TEST(UnicodeRegex, ReadsALongTextToItsEnd) {
  const std::string line = "    if (x == 12345) {\n\t\treturn y->z[0x1F] + 3.14;\n    }\n\n";
  std::string text;
  while (text.size() < 4'500'000) text += line;
  const auto regex = UnicodeRegex::compile(
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
  std::size_t joined = 0;
  const auto done = regex.value().for_each_match(
      text, [&](std::size_t begin, std::size_t end) { joined += end - begin; });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(joined, text.size());
}

}  // namespace
}  // namespace kv::model

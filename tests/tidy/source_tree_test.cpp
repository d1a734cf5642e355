// The tree as it is read, and the text of a source in parts.
#include "kvcheck/tests/tidy/source_tree.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

TEST(Tidy, ReadsTheTree) {
  EXPECT_TRUE(paths().contains("base/error.h"));
  EXPECT_TRUE(paths().contains("tests/tidy/source_tree.h"));
  EXPECT_FALSE(paths().contains("build"));
  EXPECT_GT(tree().size(), 40U);
}

TEST(TidyRule, CodeOfBlanksCommentsAndLiterals) {
  EXPECT_EQ(code_of("a // new\nb"), "a       \nb");
  EXPECT_EQ(code_of("a /* new\n */ b"), "a       \n    b");
  EXPECT_EQ(code_of(R"(f("\"new", 'n', 1'000) + x)"), "f(       ,    , 1'000) + x");
  EXPECT_EQ(code_of("R\"x(new)\" )x\" y"), "              y");
}

TEST(TidyRule, CommentsAndLiteralsAreTheOtherParts) {
  EXPECT_EQ(comments_of("a \"//b\" // \"c\"\n/* d\ne */ f"), "        // \"c\"\n/* d\ne */  ");
  EXPECT_EQ(literals_of("a \"//b\" // \"c\"\n'd' e"), "  \"//b\"       \n'd'  ");
  EXPECT_EQ(literals_of("R\"x(a\"b)x\" c"), "R\"x(a\"b)x\"  ");
}

TEST(TidyRule, HasWordKnowsWhereIdentifiersEnd) {
  EXPECT_TRUE(has_word("x = new T;", "new"));
  EXPECT_FALSE(has_word("newest renew new_ _new", "new"));
  EXPECT_TRUE(has_word("(printf(\"\"))", "printf("));
  EXPECT_FALSE(has_word("std::snprintf(a)", "printf("));
}

}  // namespace
}  // namespace kv::tidy

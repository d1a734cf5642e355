// The rules about pages, over the whole tree and each with a planted violation.
#include "kvcheck/tests/tidy/page_rules.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SourceFile page(std::string_view path) {
  const auto found = std::ranges::find(tree(), path, &SourceFile::path);
  return found == tree().end() ? SourceFile{std::string(path), ""} : *found;
}

TEST(Tidy, EveryRoomHasAPageThatNamesItsFiles) {
  EXPECT_THAT(room_pages(rooms(), tree()), IsEmpty());
}

TEST(Tidy, LinksInDocumentsLeadSomewhere) {
  EXPECT_THAT(dead_links(tree(), paths()), IsEmpty());
}

TEST(Tidy, RowsOfDocumentsAreInTables) {
  EXPECT_THAT(rows_outside_tables(tree()), IsEmpty());
}

TEST(Tidy, TheArchitectureListsTheRooms) {
  EXPECT_THAT(room_table(page("ARCHITECTURE.md"), rooms()), IsEmpty());
}

TEST(TidyWords, WhereToFindAnswersThirtyQuestions) {
  EXPECT_THAT(where_to_find(page("ARCHITECTURE.md"), paths()), IsEmpty());
}

TEST(TidyWords, TheGlossaryIsShortAndInOrder) {
  EXPECT_THAT(glossary(page("GLOSSARY.md")), IsEmpty());
}

TEST(TidyWords, TheReadmeIsShort) {
  const std::size_t lines = lines_of(page("README.md").text).size();
  EXPECT_GT(lines, 50U);
  EXPECT_LE(lines, 190U);
}

TEST(TidyRule, FindsARoomWithoutAPageThatNamesItsFiles) {
  const Rooms one = {{"sim/a", {}}};
  const SourceFile header = {"sim/a/x.h", ""};
  const SourceFile source = {"sim/a/x.cpp", ""};
  EXPECT_THAT(room_pages(one, {header}), ElementsAre("sim/a: there is no README.md"));
  EXPECT_THAT(room_pages(one, {header, source, {"sim/a/README.md", "* `x`: all.\n"}}), IsEmpty());
  EXPECT_THAT(
      room_pages(one, {header, {"sim/a/README.md", "Not `x` alone.\n- `a`, all: `x`.\n"}}),
      ElementsAre("sim/a/README.md: does not list x.h", "sim/a/README.md: there is no 'a'"));
  EXPECT_THAT(room_pages(one, {source, {"sim/a/README.md", "# xy\n"}}).size(), 1);
  std::string lines = "- `x`: all.\n";
  for (int i = 0; i < 20; ++i) lines += "\n";
  EXPECT_THAT(room_pages(one, {header, {"sim/a/README.md", lines}}),
              ElementsAre("sim/a/README.md: 21 lines; at most 20"));
}

TEST(TidyRule, FindsARowAfterTheEndOfItsTable) {
  const std::string table = "| a | b |\n| --- | --- |\n| c | d |\n";
  EXPECT_THAT(rows_outside_tables({{"a.md", table + "\n```\n| e | f |\n```\n"}}), IsEmpty());
  EXPECT_THAT(rows_outside_tables({{"a.md", table + "\n| e | f |\n\ntext\n"}}),
              ElementsAre("a.md:5: a row without the head of a table"));
}

TEST(TidyRule, FindsADeadLink) {
  const SourceFile from = {"docs/x.md", "[a](b.md), [d](https://e.f/g) and [h](../i.png).\n"};
  EXPECT_THAT(dead_links({from}, {"docs/b.md", "i.png"}), IsEmpty());
  EXPECT_THAT(dead_links({from}, {"docs/b.md"}),
              ElementsAre(HasSubstr("docs/x.md:1: the link's file '../i.png'")));
  EXPECT_THAT(dead_links({{"x.md", "```\n[a](b)\n```\n"}}, {}), IsEmpty());
}

TEST(TidyRule, FindsALinkToNoHeading) {
  const SourceFile to = {"b.md",
                         "# A `b`, [c_d](i.png) & F?\n#no\n## Two\n```\n# code\n```\n### Two\n"};
  const auto found = [&](const std::string& link) {
    return dead_links({to, {"x.md", "# X\n[a](" + link + ")\n"}}, {"b.md", "x.md", "i.png"});
  };
  for (const char* link : {"b.md#a-b-c_d--f", "b.md#two", "b.md#two-1", "#x"}) {
    EXPECT_THAT(found(link), IsEmpty()) << link;
  }
  for (const char* link : {"b.md#a", "b.md#two-2", "b.md#code", "b.md#no", "#two", "i.png#x"}) {
    EXPECT_THAT(found(link),
                ElementsAre("x.md:2: no heading for the link '" + std::string(link) + "'"));
  }
}

TEST(TidyRule, FindsATableOfOtherRooms) {
  const Rooms some = {{"base", {}}, {"sim/a", {}}};
  const std::string head = "## Layers and rooms\n\n| room | contents |\n| --- | --- |\n";
  const std::string base = "| [base](base/README.md) | a |\n";
  EXPECT_THAT(room_table({"A.md", head + base + "| [sim/a](sim/a/README.md) | b |\n"}, some),
              IsEmpty());
  EXPECT_THAT(room_table({"A.md", head + base + "| [sim/b](sim/b/README.md) | b |\n"}, some),
              ElementsAre("A.md: there is no room 'sim/b'", "A.md: no row for the room 'sim/a'"));
  EXPECT_THAT(room_table({"A.md", head + base + "| [sim/a](base/README.md) | b |\n"}, some),
              ElementsAre("A.md: the row of 'sim/a' links to another page"));
}

TEST(TidyRule, FindsAnArchitectureWithoutAnswers) {
  std::string text = "## Where to find\n\n| question | file |\n| --- | --- |\n";
  for (int i = 0; i < 29; ++i) text += "| a? | [a](a.h) |\n";
  const auto found = [](const std::string& page) { return where_to_find({"A.md", page}, {"a.h"}); };
  EXPECT_THAT(found(text + "| b? | [b](c.h), [a](a.h) |\n"), IsEmpty());
  EXPECT_THAT(found(text), ElementsAre(HasSubstr("29 questions; at least 30")));
  EXPECT_THAT(found(text + "| a? | [a](a.h) |\n| b? | in b.h |\n"),
              ElementsAre("A.md: no link to a file in '| b? | in b.h |'"));
  EXPECT_THAT(found(text + "| b? | [a](https://e.f/a.h), [c](c.h) |\n").size(), 2);
  EXPECT_THAT(found("").size(), 1);
}

TEST(TidyRule, FindsAGlossaryThatIsLongOrOutOfOrder) {
  const std::string head = "# Glossary\n\n| word | meaning |\n| --- | --- |\n";
  EXPECT_THAT(glossary({"G.md", head + "| a | x |\n| b | y |\n"}), IsEmpty());
  EXPECT_THAT(glossary({"G.md", head + "| b | x |\n| a | y |\n"}),
              ElementsAre("G.md: 'a' comes after 'b'"));
  std::string text = head;
  for (int i = 10; i < 56; ++i) text += "| a" + std::to_string(i) + " | x |\n";
  EXPECT_THAT(glossary({"G.md", text}), ElementsAre("G.md: 46 entries; from 1 to 45"));
  EXPECT_THAT(glossary({"G.md", ""}).size(), 1);
}

}  // namespace
}  // namespace kv::tidy

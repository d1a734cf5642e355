// The vocabulary, over the whole tree and with planted violations.
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/tidy/word_rules.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(KVCHECK_SOURCE_DIR);
  return files;
}

SourceFile page(std::string_view path) {
  const auto found = std::ranges::find(tree(), path, &SourceFile::path);
  return found == tree().end() ? SourceFile{std::string(path), ""} : *found;
}

TEST(TidyWords, NoRetiredWordComesBack) {
  Findings findings;
  for (const SourceFile& file : tree()) {
    for (std::string& finding : retired_words(file)) findings.push_back(std::move(finding));
  }
  EXPECT_THAT(findings, IsEmpty());
}

TEST(TidyWords, WhereToFindAnswersThirtyQuestions) {
  EXPECT_THAT(where_to_find(page("ARCHITECTURE.md")), IsEmpty());
}

TEST(TidyWords, TheGlossaryIsShortAndInOrder) {
  EXPECT_THAT(glossary(page("GLOSSARY.md")), IsEmpty());
}

TEST(TidyWords, TheReadmeIsShort) {
  const std::size_t lines = lines_of(page("README.md").text).size();
  EXPECT_GT(lines, 50U);
  EXPECT_LE(lines, 190U);
}

TEST(TidyRule, FindsRetiredWordsInIdentifiers) {
  EXPECT_THAT(retired_words({"sim/a.cpp", "\nint turned_keys = 0;\n"}),
              ElementsAre("sim/a.cpp:2: 'turned' is retired; see GLOSSARY.md, perhaps 'rotated'"));
  for (const std::string code : {"class Turning {};", "int wantedSetup;", "void who_goes();",
                                 "struct ToldRows {};", "bool unspared, spared;"}) {
    EXPECT_THAT(retired_words({"sim/a.cpp", code}), testing::Not(IsEmpty())) << code;
  }
  for (const std::string code :
       {"return saturn;", "int returned_rows;", "int whole;", "// it turned", "f(\"told\");",
        "#include \"kvcheck/policies/turned.h\"", "int benthic;"}) {
    EXPECT_THAT(retired_words({"sim/a.cpp", code}), IsEmpty()) << code;
  }
}

TEST(TidyRule, FindsRetiredWordsInTheCommentsOfHeaders) {
  EXPECT_THAT(retired_words({"sim/a.h", "int a;  // Who goes first.\n"}).size(), 2);
  EXPECT_THAT(retired_words({"sim/a.h", "// Each is asked in turn; it turns out well.\n"}),
              IsEmpty());
  EXPECT_THAT(retired_words({"sim/a.h", "const char* a = \"// who\";\n"}), IsEmpty());
}

TEST(TidyRule, FindsRetiredWordsInMarkdown) {
  EXPECT_THAT(retired_words({"docs/a.md", "A key is turned.\n"}).size(), 1);
  EXPECT_THAT(retired_words({"docs/a.md", "`turned` [a](who.md)\n```\nwho\n```\nthe whole\n"}),
              IsEmpty());
}

TEST(TidyRule, FindsAnArchitectureWithoutAnswers) {
  std::string text = "## Where to find\n\n| question | file |\n| --- | --- |\n";
  for (int i = 0; i < 29; ++i) text += "| a? | [a](a.h) |\n";
  EXPECT_THAT(where_to_find({"A.md", text}), ElementsAre(HasSubstr("29 questions; at least 30")));
  EXPECT_THAT(where_to_find({"A.md", text + "| b? | in b.h |\n"}),
              ElementsAre("A.md: no link in '| b? | in b.h |'"));
  EXPECT_THAT(where_to_find({"A.md", ""}).size(), 1);
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

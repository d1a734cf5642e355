// The vocabulary, over the whole tree and with planted violations.
#include "kvcheck/tests/tidy/word_rules.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TidyWords, NoRetiredWordComesBack) {
  Findings findings;
  for (const SourceFile& file : tree()) {
    for (std::string& finding : retired_words(file)) findings.push_back(std::move(finding));
  }
  EXPECT_THAT(findings, IsEmpty());
}

TEST(TidyRule, FindsRetiredWordsInIdentifiers) {
  EXPECT_THAT(retired_words({"sim/a.cpp", "\nint turned_keys = 0;\n"}),
              ElementsAre("sim/a.cpp:2: 'turned' is retired; see GLOSSARY.md, perhaps 'rotated'"));
  for (const std::string code :
       {"class Turning {};", "int wantedSetup;", "void who_goes();", "struct ToldRows {};",
        "bool unspared, spared;", "class KVTurn {};", "int TURN;", "int turnsKV;"}) {
    EXPECT_THAT(retired_words({"sim/a.cpp", code}), testing::Not(IsEmpty())) << code;
  }
  for (const std::string code :
       {"return saturn;", "int returned_rows;", "int RETURN;", "int whole;", "// it turned",
        "f(\"told\");", "#include \"kvcheck/policies/turned.h\"", "int benthic;"}) {
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

}  // namespace
}  // namespace kv::tidy

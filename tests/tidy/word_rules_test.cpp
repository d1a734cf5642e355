// The vocabulary, over the whole tree and with planted violations.
#include "kvcheck/tests/tidy/word_rules.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TidyWords, NoRetiredWordComesBack) {
  const Findings findings = everywhere(retired_words);
  EXPECT_THAT(findings, IsEmpty()) << join(findings, "\n");
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
       {"return saturn;", "int returned_rows;", "int RETURN;", "int whole;",
        "#include \"kvcheck/policies/turned.h\"", "int benthic;"}) {
    EXPECT_THAT(retired_words({"sim/a.cpp", code}), IsEmpty()) << code;
  }
}

TEST(TidyRule, FindsRetiredWordsInCommentsAndLiterals) {
  EXPECT_THAT(retired_words({"traces/a.h", "int a;  // Who goes first.\n"}).size(), 2);
  for (const std::string text : {"/* Who. */", "f(\"told\");", "f(\"a\\nwho\");",
                                 "f(R\"(its elders)\");", "// It stayed."}) {
    EXPECT_THAT(retired_words({"traces/a.cpp", text}).size(), 1) << text;
  }
  for (const std::string text : {"// Each is asked in turn; it turns out well.", "f(\"a\\twin\");",
                                 "// A key returned.", "// It goes to a lane.", "// Turn it off.",
                                 "f(\"saturn\");", "f(\"values-turned-too\");"}) {
    EXPECT_THAT(retired_words({"traces/a.cpp", text}), IsEmpty()) << text;
  }
}

TEST(TidyRule, LooksAtCodeAloneInSomeFolders) {
  const std::string text = "int a = 0;  // who\nf(\"told\");\nint elder;\n";
  EXPECT_THAT(retired_words({"traces/a.cpp", text}).size(), 3);
  EXPECT_THAT(retired_words({"tests/properties/a.cpp", text}), IsEmpty());
  EXPECT_THAT(retired_words({"tests/a.cpp", "int told;\n"}).size(), 1);
  EXPECT_THAT(retired_words({"tests/a.h", "// who\n"}).size(), 1);
}

TEST(TidyRule, LetsFrozenWordsStandBetweenQuotes) {
  for (const std::string text : {R"(f("untold");)", R"(f("{\"wanted\":1}");)"}) {
    EXPECT_THAT(retired_words({"cli/a.cpp", text}), IsEmpty()) << text;
  }
  EXPECT_THAT(retired_words({"python/a.py", "hello[\"wanted\"] = sizes\n"}), IsEmpty());
  EXPECT_THAT(retired_words({"cli/a.cpp", "f(\"wanted sizes\");"}).size(), 1);
  EXPECT_THAT(retired_words({"cli/a.cpp", "int wanted;"}).size(), 1);
  EXPECT_THAT(retired_words({"python/a.py", "wanted = 1\n"}).size(), 1);
}

TEST(TidyRule, FindsRetiredWordsInScripts) {
  EXPECT_THAT(retired_words({"docs/a.py", "\"\"\"What the keys are told.\"\"\"\n"}).size(), 1);
  EXPECT_THAT(retired_words({"docs/a.py", "def turned_keys(saturn):\n"}).size(), 1);
  EXPECT_THAT(retired_words({"dev", "# who\n"}).size(), 1);
}

TEST(TidyRule, FindsRetiredWordsInMarkdown) {
  EXPECT_THAT(retired_words({"docs/a.md", "A key is turned.\n"}).size(), 1);
  EXPECT_THAT(retired_words({"docs/a.md", "`turned` [a](who.md)\n```\nwho\n```\nthe whole\n"}),
              IsEmpty());
}

}  // namespace
}  // namespace kv::tidy

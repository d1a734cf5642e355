// The rules of the architecture, each over the whole tree, and each with a planted violation that
// it must find.
#include "policies/registry.h"
#include "tests/paths.h"
#include "tests/tidy/text_rules.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(KVCHECK_SOURCE_DIR);
  return files;
}

const std::set<std::string>& paths() {
  static const std::set<std::string> all = paths_in(KVCHECK_SOURCE_DIR);
  return all;
}

template <typename Rule>
Findings everywhere(const Rule& rule) {
  Findings findings;
  for (const SourceFile& file : tree()) {
    for (std::string& finding : rule(file)) findings.push_back(std::move(finding));
  }
  return findings;
}

TEST(Tidy, ReadsTheTree) {
  EXPECT_TRUE(paths().contains("base/error.h"));
  EXPECT_TRUE(paths().contains("tests/tidy/tidy_test.cpp"));
  EXPECT_FALSE(paths().contains("build"));
  EXPECT_GT(tree().size(), 40U);
}

TEST(Tidy, IncludesPointDown) {
  EXPECT_THAT(everywhere(include_layers), IsEmpty());
}

TEST(Tidy, ASourceIncludesItsOwnHeaderFirst) {
  EXPECT_THAT(everywhere([](const SourceFile& f) { return own_header_first(f, paths()); }),
              IsEmpty());
}

TEST(Tidy, NoFileIncludesItselfThroughOthers) {
  EXPECT_THAT(include_cycles(tree()), IsEmpty());
}

TEST(Tidy, FilesAndLinesStayShort) {
  EXPECT_THAT(everywhere(sizes), IsEmpty());
}

TEST(Tidy, WordsStayWhereTheyBelong) {
  EXPECT_THAT(everywhere(banned_words), IsEmpty());
}

TEST(Tidy, PoliciesNameSourceDifferencesAndCost) {
  EXPECT_THAT(everywhere(policy_headers), IsEmpty());
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_NE(entry.source, "") << entry.name;
    EXPECT_NE(entry.differs, "") << entry.name;
    EXPECT_NE(entry.cost, "") << entry.name;
  }
}

TEST(Tidy, PoliciesAreRegistered) {
  if (policy_registry().empty()) GTEST_SKIP() << "the registry is empty";
  EXPECT_THAT(unregistered_policies(tree()), IsEmpty());
}

TEST(Tidy, LinksInDocumentsLeadSomewhere) {
  EXPECT_THAT(everywhere([](const SourceFile& f) { return dead_links(f, paths()); }), IsEmpty());
}

TEST(TidyRule, CodeOfBlanksCommentsAndLiterals) {
  EXPECT_EQ(code_of("a // new\nb"), "a       \nb");
  EXPECT_EQ(code_of("a /* new\n */ b"), "a       \n    b");
  EXPECT_EQ(code_of(R"(f("\"new", 'n', 1'000) + x)"), "f(       ,    , 1'000) + x");
  EXPECT_EQ(code_of("R\"x(new)\" )x\" y"), "              y");
}

TEST(TidyRule, HasWordKnowsWhereIdentifiersEnd) {
  EXPECT_TRUE(has_word("x = new T;", "new"));
  EXPECT_FALSE(has_word("newest renew new_ _new", "new"));
  EXPECT_TRUE(has_word("(printf(\"\"))", "printf("));
  EXPECT_FALSE(has_word("std::snprintf(a)", "printf("));
}

TEST(TidyRule, FindsAnIncludeThatPointsUp) {
  EXPECT_THAT(
      include_layers({"policies/h2o.h", "\n#include \"sim/spec.h\"\n"}),
      ElementsAre("policies/h2o.h:2: policies may not include sim; arrows point down only"));
  EXPECT_THAT(include_layers({"sim/replay.h", "#include \"sim/spec.h\"\n"}), IsEmpty());
  EXPECT_THAT(include_layers({"traces/trace.h", "#include \"policies/policy.h\"\n"}).size(), 1);
  EXPECT_THAT(include_layers({"cli/x.cpp", "#include \"layers/layer.h\"\n"}),
              ElementsAre("cli/x.cpp:1: there is no folder 'layers'"));
  EXPECT_THAT(include_layers({"cli/x.cpp", "#include \"../base/error.h\"\n"}).size(), 1);
  EXPECT_THAT(include_layers({"cli/x.cpp", "#include \"options.h\"\n"}).size(), 1);
}

TEST(TidyRule, FindsAnInstructionSetsHeaderInAnOrdinarySource) {
  const std::string text = "#include \"base/lanes_avx512.h\"\n";
  EXPECT_THAT(include_layers({"base/x.cpp", text}).size(), 1);
  EXPECT_THAT(include_layers({"model/x.h", text}).size(), 1);
  EXPECT_THAT(include_layers({"model/x_avx512.cpp", text}), IsEmpty());
}

TEST(TidyRule, FindsALibraryAwayFromHome) {
  EXPECT_THAT(include_layers({"sim/x.cpp", "#include <sqlite3.h>\n"}),
              ElementsAre("sim/x.cpp:1: <sqlite3.h> belongs to reports"));
  EXPECT_THAT(include_layers({"reports/x.cpp", "#include <sqlite3.h>\n"}), IsEmpty());
  EXPECT_THAT(include_layers({"base/x.h", "#include <rapidcheck.h>\n"}).size(), 1);
}

TEST(TidyRule, FindsAnOwnHeaderThatIsNotFirst) {
  const SourceFile file = {"sim/a.cpp", "#include <vector>\n#include \"sim/a.h\"\n"};
  EXPECT_THAT(own_header_first(file, {"sim/a.h"}).size(), 1);
  EXPECT_THAT(own_header_first(file, {}), IsEmpty());
  EXPECT_THAT(own_header_first({"sim/a.cpp", "#include \"sim/a.h\"\n"}, {"sim/a.h"}), IsEmpty());
}

TEST(TidyRule, FindsACycle) {
  const SourceFile a = {"sim/a.h", "#include \"sim/b.h\"\n"};
  const SourceFile b = {"sim/b.h", "#include \"sim/c.h\"\n"};
  EXPECT_THAT(include_cycles({a, b, {"sim/c.h", "#include \"sim/a.h\"\n"}}),
              ElementsAre("sim/c.h:1: closes an include cycle"));
  EXPECT_THAT(include_cycles({a, b, {"sim/c.h", ""}}), IsEmpty());
}

TEST(TidyRule, FindsLongFilesLongLinesAndStrayBlanks) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "//\n";
  EXPECT_THAT(sizes({"sim/a.h", text}), IsEmpty());
  EXPECT_THAT(sizes({"sim/a.h", text + "//\n"}).size(), 1);
  EXPECT_THAT(sizes({"sim/a.h", std::string(100, 'x')}), IsEmpty());
  EXPECT_THAT(sizes({"sim/a.h", std::string(101, 'x')}),
              ElementsAre("sim/a.h:1: more than 100 columns"));
  EXPECT_THAT(sizes({"sim/a.h", "a\nb \n\tc\n"}),
              ElementsAre("sim/a.h:2: a blank at the line's end", "sim/a.h:3: a tab"));
}

TEST(TidyRule, FindsBannedWords) {
  const auto count = [](const std::string& path, const std::string& text) {
    return banned_words({path, text}).size();
  };
  EXPECT_EQ(count("sim/a.cpp", "int x = std::rand();"), 1);
  EXPECT_EQ(count("tests/sim/a.cpp", "#include <random>"), 1);
  EXPECT_EQ(count("sim/a.cpp", "const auto t = std::chrono::steady_clock::now();"), 1);
  EXPECT_EQ(count("cli/a.cpp", "const auto t = std::chrono::steady_clock::now();"), 0);
  EXPECT_EQ(count("cli/a.cpp", "std::cout << 1;"), 1);
  EXPECT_EQ(count("cli/main.cpp", "std::cout << 1;"), 0);
  EXPECT_EQ(count("sim/a.cpp", "std::snprintf(a, 1, b);"), 0);
  EXPECT_EQ(count("sim/a.cpp", "throw 1;"), 1);
  EXPECT_EQ(count("sim/a.cpp", "A* a = new A; // new"), 1);
  EXPECT_EQ(count("sim/a.cpp", "#include <new>"), 0);
  EXPECT_EQ(count("sim/a.h", "A(const A&) = delete;\ndelete a;"), 1);
  EXPECT_EQ(count("base/a.cpp", "#pragma GCC target(\"avx\")"), 1);
  EXPECT_EQ(count("base/a_avx512.cpp", "#pragma GCC target(\"avx512f\")"), 0);
  EXPECT_EQ(count("base/lanes_avx512.h", "#include <immintrin.h>"), 0);
}

TEST(TidyRule, FindsAPolicyWithoutSourceOrEntry) {
  const std::string entry = "PolicyEntry x_policy();\n";
  const std::string words = "// X.\n// Source: a.\n// Differs: b.\n// Cost: c.\n";
  EXPECT_THAT(policy_headers({"policies/x.h", words + entry}), IsEmpty());
  EXPECT_THAT(policy_headers({"policies/x.h", entry}).size(), 3);
  EXPECT_THAT(policy_headers({"policies/x.h", "// Helpers.\n"}), IsEmpty());
  const SourceFile header = {"policies/x.h", words + entry};
  EXPECT_THAT(unregistered_policies({header, {"policies/registry.cpp", "x_policy2()"}}).size(), 1);
  EXPECT_THAT(unregistered_policies({header, {"policies/registry.cpp", "{x_policy()}"}}),
              IsEmpty());
}

TEST(TidyRule, FindsADeadLink) {
  const std::string text = "See [a](b.md#c), [d](https://e.f/g) and [h](../i.png).\n";
  EXPECT_THAT(dead_links({"docs/x.md", text}, {"docs/b.md", "i.png"}), IsEmpty());
  EXPECT_THAT(dead_links({"docs/x.md", text}, {"docs/b.md"}),
              ElementsAre(HasSubstr("docs/x.md:1: the link's file '../i.png'")));
  EXPECT_THAT(dead_links({"x.md", "```\n[a](b)\n```\n"}, {}), IsEmpty());
}

}  // namespace
}  // namespace kv::tidy

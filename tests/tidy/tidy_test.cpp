// The rules of the architecture, over the whole tree and each with a planted violation.
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/tidy/text_rules.h"

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

const Rooms& rooms() {
  static const Rooms all = rooms_in(tree());
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

TEST(Tidy, RoomsIncludeWhatTheyUse) {
  EXPECT_GT(rooms().size(), 40U);
  EXPECT_THAT(everywhere([](const SourceFile& f) { return include_homes(f, rooms()); }), IsEmpty());
}

TEST(Tidy, LibrariesWithAHomeAreUsed) {
  EXPECT_THAT(unused_homes(tree()), IsEmpty());
}

TEST(Tidy, RoomsPointDownAndInNoCircle) {
  EXPECT_THAT(room_arrows(rooms()), IsEmpty());
}

TEST(Tidy, NoFolderIsCrowded) {
  EXPECT_THAT(crowded_folders(paths()), IsEmpty());
}

TEST(Tidy, EveryRoomHasAPageThatNamesItsFiles) {
  EXPECT_THAT(room_pages(rooms(), tree()), IsEmpty());
}

TEST(Tidy, ASourceIncludesItsOwnHeaderFirst) {
  EXPECT_THAT(everywhere([](const SourceFile& f) { return own_header_first(f, paths()); }),
              IsEmpty());
}

TEST(Tidy, NoFileIncludesItselfThroughOthers) {
  EXPECT_THAT(include_cycles(tree()), IsEmpty());
}

TEST(Tidy, CentralHeadersReachFewSources) {
  EXPECT_THAT(far_reaching_headers(tree(), {{"sim/spec/spec.h", 35}, {"policies/policy.h", 25}}),
              IsEmpty());
}

TEST(Tidy, FilesAndLinesStayShort) {
  EXPECT_THAT(everywhere(sizes), IsEmpty());
}

TEST(Tidy, WordsStayWhereTheyBelong) {
  EXPECT_THAT(everywhere(banned_words), IsEmpty());
}

TEST(Tidy, PoliciesNameSourceDifferencesAndCost) {
  EXPECT_THAT(everywhere(policy_headers), IsEmpty());
}

TEST(Tidy, PoliciesAreRegistered) {
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

const Rooms& planted() {
  static const Rooms some = rooms_in({
      {"base/CMakeLists.txt", "kv_room(LIBRARIES Boost::headers)"},
      {"policies/CMakeLists.txt", "kv_room(USES base)"},
      {"sim/spec/CMakeLists.txt", "# rooms\nkv_room(USES base\n  policies LIBRARIES Boost::json)"},
      {"sim/cache/CMakeLists.txt", "kv_room(USES sim/spec)"},
      {"cli/CMakeLists.txt", "kv_room(USES base sim/spec)"},
      {"bench/CMakeLists.txt", "add_executable(x x.cpp)"},
  });
  return some;
}

Findings included(const std::string& path, const std::string& target) {
  return include_homes({path, "\n#include " + target + "\n"}, planted());
}

TEST(TidyRule, ReadsRoomsFromTheirCMakeLists) {
  EXPECT_EQ(planted().size(), 5U);
  EXPECT_THAT(planted().at("sim/spec"), ElementsAre("base", "policies"));
  EXPECT_THAT(planted().at("base"), IsEmpty());
}

TEST(TidyRule, FindsAnIncludeOfARoomThatIsNotUsed) {
  EXPECT_THAT(included("policies/h2o.h", "\"kvcheck/sim/spec/spec.h\""),
              ElementsAre("policies/h2o.h:2: policies may not include sim/spec, which its "
                          "CMakeLists.txt does not list under USES"));
  EXPECT_THAT(included("sim/cache/a.h", "\"kvcheck/base/check.h\"").size(), 1)
      << "what a used room uses is not used yet";
  EXPECT_THAT(included("sim/cache/a.h", "\"kvcheck/sim/cache/b.h\""), IsEmpty());
  EXPECT_THAT(included("sim/cache/a.h", "\"kvcheck/sim/spec/spec.h\""), IsEmpty());
  EXPECT_THAT(included("cli/x.cpp", "\"kvcheck/layers/layer.h\""),
              ElementsAre("cli/x.cpp:2: there is no room 'layers'"));
  EXPECT_THAT(included("cli/x.cpp", "\"kvcheck/bench/x.h\"").size(), 1);
  EXPECT_THAT(included("cli/x.cpp", "\"base/error.h\"").size(), 1);
  EXPECT_THAT(included("cli/x.cpp", "\"../base/error.h\"").size(), 1);
  EXPECT_THAT(included("tests/cli/x.cpp", "\"kvcheck/sim/cache/b.h\""), IsEmpty());
  EXPECT_THAT(included("tests/cli/x.cpp", "\"kvcheck/sim/b.h\"").size(), 1);
}

TEST(TidyRule, FindsRoomsThatPointUpOrInACircle) {
  EXPECT_THAT(room_arrows(planted()), IsEmpty());
  EXPECT_THAT(room_arrows({{"sim/a", {"cli"}}, {"cli", {}}}),
              ElementsAre("sim/a may not use cli; arrows point down only"));
  EXPECT_THAT(room_arrows({{"traces", {"policies"}}, {"policies", {}}}).size(), 1);
  EXPECT_THAT(room_arrows({{"sim/a", {"sim/b"}}, {"sim/b", {"sim/c"}}, {"sim/c", {"sim/a"}}}),
              ElementsAre("sim/c uses sim/a, and it sim/c"));
  EXPECT_THAT(room_arrows({{"sim/a", {"sim/b"}}}), ElementsAre("sim/a: there is no room 'sim/b'"));
}

TEST(TidyRule, FindsACrowdedFolder) {
  std::set<std::string> paths = {"sim", "sim/cache", "sim/cache/a.h"};
  for (int i = 0; i < 30; ++i) paths.insert("sim/" + std::to_string(i) + ".h");
  EXPECT_THAT(crowded_folders(paths), IsEmpty());
  paths.insert("sim/README.md");
  EXPECT_THAT(crowded_folders(paths), ElementsAre("sim: 31 files; at most 30"));
}

TEST(TidyRule, FindsARoomWithoutAPageThatNamesItsFiles) {
  const Rooms one = {{"sim/a", {}}};
  const SourceFile header = {"sim/a/x.h", ""};
  const SourceFile source = {"sim/a/x.cpp", ""};
  EXPECT_THAT(room_pages(one, {header}), ElementsAre("sim/a: there is no README.md"));
  EXPECT_THAT(room_pages(one, {header, source, {"sim/a/README.md", "* `x`: all.\n"}}), IsEmpty());
  EXPECT_THAT(room_pages(one, {header, {"sim/a/README.md", "# xy\n"}}),
              ElementsAre("sim/a/README.md: does not name x.h"));
  EXPECT_THAT(room_pages(one, {source, {"sim/a/README.md", "# xy\n"}}).size(), 1);
  std::string lines = "x\n";
  for (int i = 0; i < 20; ++i) lines += "\n";
  EXPECT_THAT(room_pages(one, {header, {"sim/a/README.md", lines}}),
              ElementsAre("sim/a/README.md: 21 lines; at most 20"));
}

TEST(TidyRule, FindsAHeaderThatReachesManySourcesThroughOthers) {
  const std::vector<SourceFile> files = {
      {"a.h", ""},
      {"b.h", "#include \"kvcheck/a.h\"\n"},
      {"one.cpp", "#include \"kvcheck/b.h\"\n#include \"kvcheck/a.h\"\n"},
      {"two.cpp", "#include \"kvcheck/b.h\"\n"},
      {"three.cpp", "#include <vector>\n"},
      {"four.cpp", "// #include \"kvcheck/a.h\"\n"},
  };
  EXPECT_THAT(far_reaching_headers(files, {{"a.h", 50}, {"b.h", 50}}), IsEmpty());
  EXPECT_THAT(far_reaching_headers(files, {{"a.h", 49}, {"b.h", 50}}),
              ElementsAre("a.h: reaches 50 % of the sources, 2; at most 49 %"));
}

TEST(TidyRule, FindsAnInstructionSetsHeaderInAnOrdinarySource) {
  const std::string header = "\"kvcheck/base/lanes_avx512.h\"";
  EXPECT_THAT(included("base/x.cpp", header).size(), 1);
  EXPECT_THAT(included("policies/x.h", header).size(), 1);
  EXPECT_THAT(included("policies/x_avx512.cpp", header), IsEmpty());
}

TEST(TidyRule, FindsAnIncludeInsideARegionForAnInstructionSet) {
  const Rooms rooms = {{"base", {}}};
  const auto found = [&](const std::string& text) {
    return include_homes({"base/x_avx512.cpp", text}, rooms);
  };
  EXPECT_THAT(found("#include <array>\nKV_AVX512_BEGIN\n"), IsEmpty());
  EXPECT_THAT(
      found("KV_AVX512_BEGIN\n#include <array>\n"),
      ElementsAre("base/x_avx512.cpp:2: stands below KV_AVX512_BEGIN, and would be compiled "
                  "for AVX-512; expected above it"));
}

TEST(TidyRule, FindsALibraryAwayFromHome) {
  EXPECT_THAT(included("sim/spec/x.cpp", "<sqlite3.h>"),
              ElementsAre("sim/spec/x.cpp:2: <sqlite3.h> belongs to reports"));
  EXPECT_THAT(included("base/x.h", "<rapidcheck.h>").size(), 1);
  EXPECT_THAT(included("tests/x/x.h", "<rapidcheck.h>"), IsEmpty());
}

TEST(TidyRule, FindsALibraryThatNoFileUses) {
  EXPECT_THAT(unused_homes({{"traces/x.cpp", "#include <zip.h>\n"}}),
              testing::AllOf(testing::Contains("no file includes <sqlite3.h"),
                             testing::Not(testing::Contains("no file includes <zip.h"))));
}

TEST(TidyRule, FindsAnOwnHeaderThatIsNotFirst) {
  const SourceFile file = {"sim/a.cpp", "#include <vector>\n#include \"kvcheck/sim/a.h\"\n"};
  EXPECT_THAT(own_header_first(file, {"sim/a.h"}).size(), 1);
  EXPECT_THAT(own_header_first(file, {}), IsEmpty());
  EXPECT_THAT(own_header_first({"sim/a.cpp", "#include \"kvcheck/sim/a.h\"\n"}, {"sim/a.h"}),
              IsEmpty());
}

TEST(TidyRule, FindsACycle) {
  const SourceFile a = {"sim/a.h", "#include \"kvcheck/sim/b.h\"\n"};
  const SourceFile b = {"sim/b.h", "#include \"kvcheck/sim/c.h\"\n"};
  EXPECT_THAT(include_cycles({a, b, {"sim/c.h", "#include \"kvcheck/sim/a.h\"\n"}}),
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

TEST(TidyRule, FindsAPolicyThatRepeatsItsEntryOrHasNone) {
  const std::string entry = "PolicyEntry x_policy();\n";
  const std::string words = "// X.\n// Source: a.\n// Differs: b.\n// Cost: c.\n";
  EXPECT_THAT(policy_headers({"policies/x.h", words + entry}).size(), 3);
  EXPECT_THAT(policy_headers({"policies/x.h", "// X.\n" + entry}), IsEmpty());
  EXPECT_THAT(policy_headers({"policies/x.h", words}), IsEmpty()) << "it makes no policy";
  const SourceFile header = {"policies/x.h", words + entry};
  EXPECT_THAT(
      unregistered_policies({header, {"policies/registry/registry.cpp", "x_policy2()"}}).size(), 1);
  EXPECT_THAT(unregistered_policies({header, {"policies/registry/registry.cpp", "{x_policy()}"}}),
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

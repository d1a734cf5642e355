// The rules about text, over the whole tree and each with a planted violation.
#include "kvcheck/tests/tidy/text_rules.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tidy, FilesAndLinesStayShort) {
  EXPECT_THAT(everywhere(sizes), IsEmpty());
}

TEST(Tidy, WordsStayWhereTheyBelong) {
  EXPECT_THAT(everywhere(banned_words), IsEmpty());
}

TEST(Tidy, CommentsNameFilesThatAreThere) {
  EXPECT_THAT(everywhere([](const SourceFile& f) { return lost_names(f, paths()); }), IsEmpty());
}

TEST(Tidy, HeadersOfPoliciesDoNotRepeatTheirEntries) {
  EXPECT_THAT(everywhere(policy_headers), IsEmpty());
}

TEST(Tidy, PoliciesAreRegistered) {
  EXPECT_THAT(unregistered_policies(tree()), IsEmpty());
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
  for (const char* code :
       {"::_exit(3);", "std::raise(SIGINT);", "std::terminate();", "::kill(p, SIGKILL);",
        "::write(STDERR_FILENO, a, n);", "::write(2, a, n);", "std::putchar(c);",
        "std::fwrite(a, 1, n, stdout);", "::usleep(1);", "std::this_thread::sleep_for(a);"}) {
    EXPECT_EQ(count("properties/history.cpp", code), 1) << code;
    EXPECT_EQ(count("bench/a.cpp", code), 0) << code;
  }
  EXPECT_EQ(count("properties/cases/child.cpp", "::_exit(3); ::usleep(1);"), 0);
  EXPECT_EQ(count("properties/cases/child.cpp", "std::putchar(c);"), 1);
  EXPECT_EQ(count("cli/a.cpp", "for (fs::directory_iterator at(a); at != b;) c();"), 1);
  EXPECT_EQ(count("tests/a.cpp", "std::filesystem::remove_all(a);"), 0);
  EXPECT_EQ(count("sim/a.cpp", "thread_local std::vector<int> a;"), 1);
  EXPECT_EQ(count("sim/a.cpp", "std::ostringstream a;"), 1);
  EXPECT_EQ(count("sim/a.cpp", "A* a = new A; // new"), 1);
  EXPECT_EQ(count("sim/a.cpp", "#include <new>"), 0);
  EXPECT_EQ(count("sim/a.h", "A(const A&) = delete;\ndelete a;"), 1);
  EXPECT_EQ(count("base/a.cpp", "#pragma GCC target(\"avx\")"), 1);
  EXPECT_EQ(count("base/a_avx512.cpp", "#pragma GCC target(\"avx512f\")"), 0);
  EXPECT_EQ(count("base/lanes_avx512.h", "#include <immintrin.h>"), 0);
  EXPECT_EQ(count("base/a_avx512.cpp", "#include <hwy/highway.h>"), 1);
  EXPECT_EQ(count("base/a_highway.cpp", "#include <hwy/highway.h>"), 0);
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

TEST(TidyRule, FindsACommentThatNamesNoFile) {
  const std::set<std::string> paths = {"sim/a/b.h", "sim/a/c.cpp"};
  const auto found = [&](const std::string& text) { return lost_names({"sim/d.h", text}, paths); };
  EXPECT_THAT(found("// See its .h, b.h, a/c.cpp (sim/a/b.h), *_e.h and kvcheck/sim/a/c.cpp.\n"),
              IsEmpty());
  EXPECT_THAT(found("int a;\nint c;  // as in (sim/b.h).\n"),
              ElementsAre("sim/d.h:2: there is no file 'sim/b.h'"));
  EXPECT_THAT(found("// e.cpp and bb.h").size(), 2);
  EXPECT_THAT(found("#include \"e.h\"\n"), IsEmpty());
}

}  // namespace
}  // namespace kv::tidy

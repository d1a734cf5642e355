// The rules about #include, over the whole tree and each with a planted violation.
#include "kvcheck/tests/tidy/include_rules.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tidy, RoomsIncludeWhatTheyUse) {
  EXPECT_GT(rooms().size(), 40U);
  EXPECT_THAT(everywhere([](const SourceFile& f) { return include_homes(f, rooms()); }), IsEmpty());
}

TEST(Tidy, RoomsUseWhatTheyList) {
  EXPECT_THAT(unused_rooms(rooms(), tree()), IsEmpty());
}

TEST(Tidy, LibrariesWithAHomeAreUsed) {
  EXPECT_THAT(unused_homes(tree()), IsEmpty());
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

Findings included(const std::string& path, const std::string& target) {
  return include_homes({path, "\n#include " + target + "\n"}, planted());
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
              ElementsAre("a.h: reaches 2 sources of 4; at most 49 %"));
  const std::vector<SourceFile> three(files.begin(), files.begin() + 5);
  EXPECT_THAT(far_reaching_headers(three, {{"a.h", 66}}).size(), 1) << "2 of 3 are 66.7 %";
  EXPECT_THAT(far_reaching_headers(files, {{"gone.h", 50}}), ElementsAre("gone.h: is not there"));
}

TEST(TidyRule, FindsAnInstructionSetsHeaderInAnOrdinarySource) {
  const std::string header = "\"kvcheck/base/lanes_avx512.h\"";
  EXPECT_THAT(included("base/x.cpp", header).size(), 1);
  EXPECT_THAT(included("policies/x.h", header).size(), 1);
  EXPECT_THAT(included("policies/x_avx512.cpp", header), IsEmpty());
  const std::string by_target = "\"kvcheck/base/lanes_highway.h\"";
  EXPECT_THAT(included("policies/x_avx512.cpp", by_target).size(), 1);
  EXPECT_THAT(included("policies/x_highway.cpp", by_target), IsEmpty());
}

TEST(TidyRule, FindsAnIncludeInsideARegionForAnInstructionSet) {
  const Rooms rooms = {{"base", {}}};
  const auto found = [&](const std::string& text) {
    return include_homes({"base/x_avx512.cpp", text}, rooms);
  };
  EXPECT_THAT(found("#include <array>\nKV_AVX512_BEGIN\n"), IsEmpty());
  EXPECT_THAT(found("KV_AVX512_BEGIN\n#include <array>\n"),
              ElementsAre("base/x_avx512.cpp:2: stands below the line that begins the code for an "
                          "instruction set, and would be compiled for it; expected above it"));
  EXPECT_THAT(found("HWY_BEFORE_NAMESPACE();\n#include <array>\n").size(), 1);
}

TEST(TidyRule, FindsALibraryAwayFromHome) {
  EXPECT_THAT(included("sim/spec/x.cpp", "<sqlite3.h>"),
              ElementsAre("sim/spec/x.cpp:2: <sqlite3.h> belongs to reports"));
  EXPECT_THAT(included("base/x.h", "<rapidcheck.h>").size(), 1);
  EXPECT_THAT(included("tests/x/x.h", "<rapidcheck.h>"), IsEmpty());
}

TEST(TidyRule, FindsARoomThatIsListedAndNotIncluded) {
  const Rooms some = {{"sim/a", {"base"}}, {"properties/laws", {"properties/laws/chance"}}};
  const SourceFile user = {"sim/a/x.cpp", "#include \"kvcheck/base/error.h\"\n"};
  EXPECT_THAT(unused_rooms(some, {user}), IsEmpty());
  EXPECT_THAT(unused_rooms(some, {{"sim/a/x.cpp", "// #include \"kvcheck/base/error.h\"\n"}}),
              ElementsAre("sim/a: no file includes base, which USES lists"));
  EXPECT_THAT(
      unused_rooms(some, {user,
                          {"properties/laws/x.h",
                           "#include \"kvcheck/properties/laws/chance/chance.h\"\n"}}),
      ElementsAre("properties/laws: includes properties/laws/chance, which is listed as only "
                  "linked"));
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

}  // namespace
}  // namespace kv::tidy

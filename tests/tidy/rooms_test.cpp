// The rules about rooms, over the whole tree and each with a planted violation.
#include "kvcheck/tests/tidy/rooms.h"
#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tidy, RoomsPointDownAndInNoCircle) {
  EXPECT_THAT(room_arrows(rooms()), IsEmpty());
}

TEST(Tidy, EveryFolderOfSourcesIsARoom) {
  EXPECT_THAT(folders_without_room(tree(), rooms()), IsEmpty());
}

TEST(Tidy, NoFolderIsCrowded) {
  EXPECT_THAT(crowded_folders(paths()), IsEmpty());
}

TEST(Tidy, FoldersStaySmall) {
  // The battery's folder grew by a mutant for each word of a contract, by the covering design of
  // shapes, by what carries findings out of child processes, by prompts, places made ahead and
  // budgets of each unit (fields of a contract with mutants of their own), and by the room
  // `recorded`, which reads runs of real caches from files, judges and writes them; by prompts that
  // are compressed, by caches of tensors in C++ and C, by the rules of four more policies, by
  // a stateful model for RapidCheck, by layers that attend to the rows of others, by the user's
  // request to stop, and by calls that are named when a child hangs in them.
  EXPECT_THAT(large_folders(tree(), {{"properties", 34'200}}), IsEmpty());
}

TEST(Tidy, HeadersStandBesideTheirSources) {
  EXPECT_THAT(headers_apart(paths()), IsEmpty());
}

TEST(TidyRule, ReadsRoomsFromTheirCMakeLists) {
  EXPECT_EQ(planted().size(), 5U);
  EXPECT_THAT(planted().at("sim/spec"), ElementsAre("base", "policies"));
  EXPECT_THAT(planted().at("base"), IsEmpty());
}

TEST(TidyRule, ReadsRoomsWithoutComments) {
  const Rooms some = rooms_in({
      {"sim/a/CMakeLists.txt", "# kv_room(USES base)\n"},
      {"sim/b/CMakeLists.txt", "kv_room(USES base # (errors)\n  policies)\n"},
      {"sim/c/CMakeLists.txt", "kv_room()\n"},
  });
  EXPECT_EQ(some.size(), 2U);
  EXPECT_THAT(some.at("sim/b"), ElementsAre("base", "policies"));
  EXPECT_THAT(some.at("sim/c"), IsEmpty());
}

TEST(TidyRule, FindsAFolderOfSourcesThatIsNoRoom) {
  const Rooms one = {{"sim/a", {}}, {"extra", {}}};
  EXPECT_THAT(folders_without_room({{"sim/a/x.h", ""}, {"tests/sim/x.cpp", ""}}, one), IsEmpty());
  EXPECT_THAT(
      folders_without_room({{"sim/b/x.h", ""}, {"sim/b/x.cpp", ""}, {"sim/y.cpp", ""}}, one),
      ElementsAre("sim: has sources, and is no room of a layer",
                  "sim/b: has sources, and is no room of a layer"));
  EXPECT_THAT(folders_without_room({{"extra/x.cpp", ""}}, one).size(), 1) << "it is in no layer";
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

TEST(TidyRule, FindsALargeFolder) {
  const std::vector<SourceFile> files = {{"sim/a/x.h", "//\n//\n"},
                                         {"sim/x.cpp", "//\n"},
                                         {"sim/README.md", "a\n"},
                                         {"model/x.h", "//\n"}};
  EXPECT_THAT(large_folders(files, {{"sim", 4}, {"model", 2}}), IsEmpty());
  EXPECT_THAT(large_folders(files, {{"sim", 3}}),
              ElementsAre("sim: 3 lines of sources and headers; fewer than 3"));
  EXPECT_THAT(large_folders(files, {{"gone", 9}}).size(), 1);
}

TEST(TidyRule, FindsAHeaderAwayFromItsSource) {
  EXPECT_THAT(headers_apart({"sim/x.h", "sim/a/x.cpp"}),
              ElementsAre("sim/x.h: its source is sim/a/x.cpp"));
  EXPECT_THAT(headers_apart({"sim/x.h", "sim/x.cpp", "sim/a/x.cpp"}), IsEmpty());
  EXPECT_THAT(headers_apart({"sim/x.h", "sim/a/x.h", "sim/a/x.cpp"}), IsEmpty());
  EXPECT_THAT(headers_apart({"sim/x.h", "model/x.cpp", "tests/sim/x.cpp"}), IsEmpty());
}

}  // namespace
}  // namespace kv::tidy

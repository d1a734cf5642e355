#include "kvcheck/base/folder.h"

#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Folder, ListsWhatIsInItByName) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "b");
  fs::create_directory_symlink("b", folder / "c");
  std::ofstream(folder / "a") << "text";
  const auto entries = entries_of(folder / "");
  ASSERT_TRUE(entries);
  EXPECT_THAT(*entries, ElementsAre(FolderEntry{"a", false}, FolderEntry{"b", true},
                                    FolderEntry{"c", false}));
}

TEST(Folder, OneThatIsNotThereIsNamed) {
  const auto entries = entries_of("/nowhere/at all");
  ASSERT_FALSE(entries);
  EXPECT_THAT(entries.error().message, HasSubstr("cannot read '/nowhere/at all': No such file"));
}

TEST(Folder, IsRemovedWithAllThatIsInIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "whole";
  fs::create_directories(path + "/a/b/c");
  for (int i = 0; i < 3000; ++i) {  // more than one read of the folder gives
    std::ofstream(path + "/a/a long name, so that few fit into one read " + std::to_string(i));
  }
  std::ofstream(folder / "beside") << "text";
  fs::create_symlink(folder / "beside", path + "/a/link");
  fs::create_directory_symlink(folder / "", path + "/a/up");
  remove_folder(path.c_str());
  EXPECT_THAT(folder.names(), ElementsAre("beside"));
}

}  // namespace
}  // namespace kv

#include "kvcheck/base/new_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

namespace fs = std::filesystem;
using namespace testing;

class AbandonedFolder : public testing::Test {
 protected:
  // A writer of this folder that is killed at its work, more than a minute ago.
  [[nodiscard]] fs::path killed() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto folder = NewFolder::create(target_);
      std::ofstream(folder->path() + "/1.safetensors") << "half";
      ::raise(SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    for (const std::string& name : folder_.names()) {
      if (!name.starts_with(".items.partial-")) continue;
      make_old(folder_ / name);
      return folder_ / name;
    }
    ADD_FAILURE() << "the writer left nothing";
    return {};
  }

  static void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  }

  test::TemporaryFolder folder_;
  std::string target_ = folder_ / "items";
};

TEST_F(AbandonedFolder, OfAKilledWriterIsRemovedByTheNext) {
  const fs::path stale = killed();
  EXPECT_TRUE(fs::exists(stale));
  EXPECT_TRUE(NewFolder::create(target_));
  EXPECT_FALSE(fs::exists(stale));
}

TEST_F(AbandonedFolder, OfALivingWriterIsLeft) {
  const auto writer = NewFolder::create(target_);
  make_old(writer->path());
  EXPECT_TRUE(NewFolder::create(target_));
  EXPECT_TRUE(fs::exists(writer->path()));
}

TEST_F(AbandonedFolder, SoIsWhatHasAnotherName) {
  for (const char* const name : {".items.partial-", ".items.partial-1234567",
                                 ".other.partial-123456", "items.partial-123456"}) {
    fs::create_directories(folder_ / name);
    make_old(folder_ / name);
    EXPECT_TRUE(NewFolder::create(target_));
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  }
  std::ofstream(folder_ / ".items.partial-abcdef") << "a file";
  make_old(folder_ / ".items.partial-abcdef");
  EXPECT_TRUE(NewFolder::create(target_));
  EXPECT_TRUE(fs::exists(folder_ / ".items.partial-abcdef"));
}

// A folder that was written in full is kept, also if its place was taken while it was written.
TEST_F(AbandonedFolder, IsNotOneThatFoundItsPlaceTaken) {
  auto folder = NewFolder::create(target_);
  std::ofstream(folder->path() + "/1.safetensors") << "whole";
  fs::create_directory(target_);
  std::ofstream(target_ + "/other") << "of someone else";
  const auto done = folder->commit();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr(target_ + ".whole-"));
  const std::string kept = done.error().message.substr(
      done.error().message.find(target_ + ".whole"), target_.size() + 13);
  make_old(kept);
  EXPECT_TRUE(NewFolder::create(target_));
  EXPECT_TRUE(fs::exists(kept + "/1.safetensors"));
  EXPECT_TRUE(fs::exists(target_ + "/other"));
}

TEST_F(AbandonedFolder, IsNotLeftByOneThatReplacesAnother) {
  for (const char* const text : {"first", "second"}) {
    auto folder = NewFolder::create(target_);
    std::ofstream(folder->path() + "/" + text) << text;
    ASSERT_TRUE(folder->replace());
  }
  EXPECT_THAT(folder_.names(), ElementsAre("items"));
  EXPECT_FALSE(fs::exists(target_ + "/first"));
  EXPECT_TRUE(fs::exists(target_ + "/second"));
}

}  // namespace
}  // namespace kv

#include "kvcheck/reports/page/report_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace kv::reports {
namespace {

namespace fs = std::filesystem;
using namespace testing;

class StaleReport : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(parent_); }

  void TearDown() override { fs::remove_all(parent_); }

  // A writer of this report that is killed at its work, more than a minute ago.
  [[nodiscard]] fs::path killed() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto folder = ReportFolder::create(target_);
      std::ofstream(folder->path() + "/index.html") << "half";
      ::raise(SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    for (const auto& entry : fs::directory_iterator(parent_)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(".report.partial-")) continue;
      make_old(entry.path());
      return entry.path();
    }
    ADD_FAILURE() << "the writer left nothing";
    return {};
  }

  static void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  }

  std::string parent_ = testing::TempDir() + "kvcheck-stale-" + std::to_string(::getpid());
  std::string target_ = parent_ + "/report";
};

TEST_F(StaleReport, OfAKilledWriterIsRemovedByTheNext) {
  const fs::path stale = killed();
  EXPECT_TRUE(fs::exists(stale));
  EXPECT_TRUE(ReportFolder::create(target_));
  EXPECT_FALSE(fs::exists(stale));
}

TEST_F(StaleReport, OfALivingWriterIsLeft) {
  const auto writer = ReportFolder::create(target_);
  make_old(writer->path());
  EXPECT_TRUE(ReportFolder::create(target_));
  EXPECT_TRUE(fs::exists(writer->path()));
}

TEST_F(StaleReport, SoIsWhatHasAnotherName) {
  for (const char* const name : {".report.partial-", ".report.partial-1234567",
                                 ".other.partial-123456", "report.partial-123456"}) {
    fs::create_directories(parent_ + "/" + name);
    make_old(parent_ + "/" + name);
    EXPECT_TRUE(ReportFolder::create(target_));
    EXPECT_TRUE(fs::exists(parent_ + "/" + name)) << name;
  }
  std::ofstream(parent_ + "/.report.partial-abcdef") << "a file";
  make_old(parent_ + "/.report.partial-abcdef");
  EXPECT_TRUE(ReportFolder::create(target_));
  EXPECT_TRUE(fs::exists(parent_ + "/.report.partial-abcdef"));
}

}  // namespace
}  // namespace kv::reports

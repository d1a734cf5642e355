#include "kvcheck/base/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace kv {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A folder of its own for each test.
class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kvcheck-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  [[nodiscard]] std::string text(const std::string& name) const {
    const auto file = MappedFile::open(path(name));
    if (!file) return "cannot be read: " + file.error().message;
    const auto bytes = file->bytes();
    return bytes.empty() ? ""
                         : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

// While it lives, the process has no privileges, even when root runs the tests.
class Unprivileged {
 public:
  Unprivileged() {
    if (was_root_) changed_ = ::seteuid(65534) == 0;
  }

  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

  ~Unprivileged() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }

  [[nodiscard]] bool is_restricted() const { return changed_ || !was_root_; }

 private:
  bool was_root_ = ::geteuid() == 0;
  bool changed_ = false;
};

// While it lives, no file can grow beyond `bytes`: what a full disk does, without one.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }

  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(File, MapsWhatIsThere) {
  put("a", std::string("x\0y", 3));
  EXPECT_EQ(text("a"), std::string("x\0y", 3));
}

TEST_F(File, AnEmptyFileMapsToAnEmptySpan) {
  put("empty", "");
  const auto file = MappedFile::open(path("empty"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(File, MovesWithoutUnmapping) {
  put("a", "text");
  put("b", "other");
  auto a = MappedFile::open(path("a"));
  auto b = MappedFile::open(path("b"));
  ASSERT_TRUE(a && b);
  MappedFile moved(std::move(*a));
  moved = std::move(*b);
  ASSERT_EQ(moved.bytes().size(), 5U);
  EXPECT_EQ(moved.bytes()[0], std::byte{'o'});
}

TEST_F(File, AKilledWriterLeavesNothing) {
  const auto killed = [&] {
    auto file = AtomicFile::create(path("a"));
    if (!file->write("some of it")) ::_exit(1);
    if (entries() != 0) ::_exit(2);  // the file system has no files without a name
    ::raise(SIGKILL);
  };
  const pid_t child = ::fork();
  if (child == 0) killed();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "no files without a name on this file system";
  }
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(File, WritersOfOneNameDoNotMeet) {
  put("a", "old");
  auto first = AtomicFile::create(path("a"));
  auto second = AtomicFile::create(path("a"));
  ASSERT_TRUE(first->write("first"));
  ASSERT_TRUE(second->write("second"));
  // The name that the first takes on its way.
  put("a.tmp-" + std::to_string(::getpid()) + "-0", "another program's");
  ASSERT_TRUE(second->commit());
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(text("a"), "first");
  EXPECT_EQ(text("a.tmp-" + std::to_string(::getpid()) + "-0"), "another program's");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(File, WhatCannotBeMappedIsNamed) {
  const auto missing = MappedFile::open(path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr(path("missing")));

  const auto folder = MappedFile::open(folder_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("it is a directory"));

  const auto device = MappedFile::open("/dev/null");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("it is not a regular file"));
}

TEST_F(File, ANamedPipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto read = MappedFile::open(path("pipe"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("it is not a regular file"));
  EXPECT_FALSE(AtomicFile::create(path("pipe")));
}

TEST_F(File, AFileWithoutPermissionIsRefused) {
  put("secret", "x");
  fs::permissions(path("secret"), fs::perms::none);
  const Unprivileged no_token;
  if (!no_token.is_restricted()) GTEST_SKIP() << "root cannot give up its rights here";
  const auto read = MappedFile::open(path("secret"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, Error::Kind::io);
}

TEST_F(File, AFolderWithoutPermissionIsRefused) {
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  {
    const Unprivileged no_token;
    if (!no_token.is_restricted()) GTEST_SKIP() << "root cannot give up its rights here";
    const auto written = write_file(path("new"), "x");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr("'" + path("new") + "'"));
  }
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(File, AppearsWholeOnCommit) {
  auto file = AtomicFile::create(path("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("one "));
  ASSERT_TRUE(file->write("two"));
  EXPECT_FALSE(fs::exists(path("a")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(text("a"), "one two");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, HasThePermissionsThatTheMaskGives) {
  const mode_t mask = ::umask(027);
  ASSERT_TRUE(write_file(path("a"), "x"));
  ::umask(mask);
  struct stat status = {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(File, ReplacesTheOldFileOnCommitOnly) {
  put("a", "old");
  {
    auto file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
    EXPECT_EQ(text("a"), "old");
  }
  EXPECT_EQ(text("a"), "old") << "not committed";
  EXPECT_EQ(entries(), 1U) << "the temporary was left behind";
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_EQ(text("a"), "new");
}

TEST_F(File, AMovedFileIsCommittedOnce) {
  auto file = AtomicFile::create(path("a"));
  ASSERT_TRUE(file);
  {
    AtomicFile moved(std::move(*file));
    ASSERT_TRUE(moved.write("x"));
    ASSERT_TRUE(moved.commit());
  }
  EXPECT_EQ(text("a"), "x");
}

TEST_F(File, AFailedWriteLeavesTheOldFileAndNoTemporary) {
  put("a", "old");
  {
    const FileLimit limit(1000);
    const auto written = write_file(path("a"), std::string(5000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, Error::Kind::io);
    EXPECT_THAT(written.error().message, HasSubstr("cannot write '" + path("a") + "'"));
  }
  EXPECT_EQ(text("a"), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, AFailedRenameLeavesNoTemporary) {
  {
    auto file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file);
    fs::create_directories(path("a"));
    EXPECT_FALSE(file->commit());
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, DevicesAndFoldersAreNotReplaced) {
  const auto full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "cannot write '/dev/full': it is not a regular file");
  const auto folder = write_file(folder_, "x");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "cannot write '" + folder_ + "': it is a directory");
}

TEST_F(File, AFolderThatIsNotThereIsNamed) {
  const auto written = write_file(path("no/such"), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::not_found);
  EXPECT_EQ(written.error().message,
            "cannot write '" + path("no/such") + "': No such file or directory");
}

TEST_F(File, AReplacedFileKeepsItsPermissions) {
  put("private", "old");
  ASSERT_EQ(::chmod(path("private").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(path("private"), "new"));
  EXPECT_EQ(text("private"), "new");
  EXPECT_EQ(fs::status(path("private")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(File, ASymbolicLinkRemainsOne) {
  put("target", "old");
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text("target"), "new");
  EXPECT_EQ(entries(), 2U);
}

}  // namespace
}  // namespace kv

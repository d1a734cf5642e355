#include "kvcheck/traces/files/checksum.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;
namespace fs = std::filesystem;

MappedFile opened(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

// Overwrites bytes of the file where it lies.
void overwrite(const std::string& path, off_t at, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::pwrite(descriptor, bytes.data(), bytes.size(), at),
            static_cast<ssize_t>(bytes.size()));
  ::close(descriptor);
}

// Gives the file the time of its last change back, as programs that copy files do.
void set_modified(const std::string& path, std::int64_t nanoseconds) {
  const timespec time = {.tv_sec = nanoseconds / 1'000'000'000,
                         .tv_nsec = nanoseconds % 1'000'000'000};
  const std::array<timespec, 2> times = {time, time};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
}

class KeptChecksum : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove(path_ + ".xxh3");
    plain_ = checksum();
  }

  void TearDown() override {
    fs::remove(path_ + ".xxh3");
    fs::remove(path_);
  }

  [[nodiscard]] std::uint64_t checksum() const {
    return kept_checksum_of(opened(path_), path_, {}, 1);
  }

  [[nodiscard]] std::string beside() const { return test::bytes_of_file(path_ + ".xxh3"); }

  // Makes the file that is beside say something else about the same state.
  void forge() const { overwrite(path_ + ".xxh3", 8, "00000000000000ff"); }

  std::string path_ = test::temporary_file("kept.bin", std::string(1000, 'a'));
  std::uint64_t plain_ = 0;
};

TEST_F(KeptChecksum, IsWrittenBesideTheFile) {
  EXPECT_EQ(plain_, checksum_of(opened(path_)));
  EXPECT_THAT(beside(), StartsWith("XXH3-64 " + hexadecimal(plain_) + " of 1000 bytes, inode "));
}

TEST_F(KeptChecksum, IsTakenFromThereWhileTheFileIsUnchanged) {
  forge();
  EXPECT_EQ(checksum(), 0xffU);
}

TEST_F(KeptChecksum, ABytesChangeIsSeenEvenIfTheTimeIsPutBack) {
  const std::int64_t modified = opened(path_).stamp().modified;
  overwrite(path_, 10, "b");
  set_modified(path_, modified);
  EXPECT_EQ(opened(path_).stamp().modified, modified);
  EXPECT_NE(checksum(), plain_);
  EXPECT_EQ(checksum(), checksum_of(opened(path_)));
}

TEST_F(KeptChecksum, ACopyUnderTheSameNameIsReadAgain) {
  const std::string copy = test::temporary_file("copy.bin", std::string(1000, 'c'));
  set_modified(copy, opened(path_).stamp().modified);
  fs::rename(copy, path_);
  EXPECT_EQ(checksum(), checksum_of(opened(path_)));
}

TEST_F(KeptChecksum, ADamagedFileBesideIsReplaced) {
  const std::string right = beside();
  for (std::size_t length = 0; length < right.size(); ++length) {
    std::string wrong = right;
    wrong[length] ^= 1;
    for (const std::string& text : {right.substr(0, length), wrong}) {
      ASSERT_TRUE(write_file(path_ + ".xxh3", text));
      // A digit that was flipped is a digit of another checksum, which only the digits tell.
      if (text.size() == right.size() && length >= 8 && length < 24) continue;
      EXPECT_EQ(checksum(), plain_) << text;
      EXPECT_EQ(beside(), right);
    }
  }
}

TEST_F(KeptChecksum, ASmallFileHasNothingBeside) {
  fs::remove(path_ + ".xxh3");
  EXPECT_EQ(kept_checksum_of(opened(path_), path_), plain_);
  EXPECT_FALSE(fs::exists(path_ + ".xxh3"));
}

TEST(Checksum, OfManyPiecesIsThatOfTheWhole) {
  const std::string path = test::temporary_file("pieces.bin", "");
  fs::resize_file(path, (std::uint64_t{64} << 20) + 1);
  std::vector<double> shares;
  const std::uint64_t checksum =
      checksum_of(opened(path), [&](double share) { shares.push_back(share); });
  EXPECT_EQ(shares.size(), 2U);
  const MappedFile file = opened(path);
  EXPECT_EQ(checksum, XXH3_64bits(file.bytes().data(), file.bytes().size()));
  fs::remove(path);
}

}  // namespace
}  // namespace kv

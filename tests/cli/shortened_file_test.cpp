// A mapped file that becomes shorter while it is read.
#include "kvcheck/cli/options/shortened_file.h"

#include <unistd.h>

#include <csignal>
#include <fstream>

#include "kvcheck/base/file.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::cli {
namespace {

// Reads the last byte of a file of 64 KiB after it was truncated.
void read_what_is_gone(const std::string& path) {
  name_shortened_files();
  std::ofstream(path, std::ios::binary) << std::string(1 << 16, 'x');
  const Result<MappedFile> file = MappedFile::open(path);
  if (::truncate(path.c_str(), 0) != 0) ::_exit(7);
  const auto* const last = static_cast<const volatile std::byte*>(&file->bytes().back());
  ::_exit(*last == std::byte{0} ? 8 : 9);
}

TEST(ShortenedFile, IsNamedAndEndsTheProgramWithStatusTwo) {
  const test::TemporaryFolder folder;
  EXPECT_EXIT(read_what_is_gone(folder / "a.npy"), testing::ExitedWithCode(2),
              "a.npy' became shorter while it was read");
}

TEST(ShortenedFile, APathSendsNoEscapes) {
  const test::TemporaryFolder folder;
  EXPECT_EXIT(read_what_is_gone(folder / "\x1b[31m.npy"), testing::ExitedWithCode(2),
              "\\?\\[31m.npy' became shorter");
}

TEST(ShortenedFile, AnotherBusErrorEndsTheProgramAsUsual) {
  const auto raise_it = [] {
    name_shortened_files();
    std::raise(SIGBUS);
    std::raise(SIGBUS);  // the first one restored the usual handler
  };
  EXPECT_EXIT(raise_it(), testing::KilledBySignal(SIGBUS), "");
}

TEST(ShortenedFile, OnlyMappedAddressesHaveAPath) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "b.npy";
  std::ofstream(path, std::ios::binary) << "abc";
  const std::byte* begin = nullptr;
  {
    Result<MappedFile> file = MappedFile::open(path);
    const MappedFile moved = *std::move(file);
    begin = moved.bytes().data();
    ASSERT_NE(mapped_path_at(begin + 2), nullptr);
    EXPECT_EQ(std::string(mapped_path_at(begin + 2)), path);
    EXPECT_EQ(mapped_path_at(begin + 3), nullptr);
    EXPECT_EQ(mapped_path_at(&path), nullptr);
  }
  EXPECT_EQ(mapped_path_at(begin), nullptr);
}

}  // namespace
}  // namespace kv::cli

// The file that keeps the finished parts of a run.
#include "kvcheck/reports/unfinished/unfinished_file.h"

#include <filesystem>
#include <fstream>

#include "kvcheck/reports/unfinished/part_records.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::reports {
namespace {

using test::read_text;
using testing::HasSubstr;
using testing::IsEmpty;

class UnfinishedRun : public testing::Test {
 protected:
  std::unique_ptr<UnfinishedFile> open(EarlierParts earlier,
                                       const std::string& identity = "version 1\ninput a") {
    auto file = UnfinishedFile::open(path_, identity, earlier);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *std::move(file) : nullptr;
  }

  static KeptPart part(const std::string& key, std::size_t size = 100) {
    return {key, std::vector<std::byte>(size, static_cast<std::byte>(key.front()))};
  }

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  // A file with parts a, b and c, and how large it was before c.
  std::size_t write_three() {
    const auto file = open(EarlierParts::used);
    file->keep({part("a"), part("b")});
    const std::size_t size = read_text(path_).size();
    file->keep({part("c")});
    return size;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db.unfinished-0";
};

TEST_F(UnfinishedRun, FindsWhatAnEarlierRunKept) {
  write_three();
  const auto file = open(EarlierParts::used);
  EXPECT_EQ(file->found(), 3U);
  EXPECT_THAT(file->dropped(), IsEmpty());
  EXPECT_TRUE(std::ranges::equal(file->find("b").value(), part("b").bytes));
  EXPECT_FALSE(file->find("d"));
}

TEST_F(UnfinishedRun, HasEachPartInTheFileAsSoonAsItIsKept) {
  const auto file = open(EarlierParts::used);
  std::size_t before = read_text(path_).size();
  for (const std::string key : {"a", "b", "c"}) {
    file->keep({part(key)});
    const std::string bytes = read_text(path_);
    EXPECT_GE(bytes.size(), before + 100);
    EXPECT_EQ(parse_parts(bytes, path_).value().parts.back().key, key);
    before = bytes.size();
  }
  file->keep({part("b")});
  EXPECT_EQ(read_text(path_).size(), before) << "the file has it already";
}

TEST_F(UnfinishedRun, TornAtAnyByteOfTheLastPartKeepsTheOthersAndContinues) {
  const std::size_t before = write_three();
  const std::string whole = read_text(path_);
  for (std::size_t size = before; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    {
      const auto file = open(EarlierParts::used);
      EXPECT_EQ(file->found(), 2U) << size;
      EXPECT_EQ(file->dropped().empty(), size == before) << size;
      EXPECT_FALSE(file->find("c")) << size;
      file->keep({part("c")});
    }
    EXPECT_EQ(read_text(path_), whole) << size;
  }
}

TEST_F(UnfinishedRun, DropsWhatFollowsAFlippedByte) {
  const std::size_t before = write_three();
  std::string bytes = read_text(path_);
  bytes[before - 1] = static_cast<char>(bytes[before - 1] ^ 1);
  write(bytes);
  const auto file = open(EarlierParts::used);
  EXPECT_EQ(file->found(), 1U);
  EXPECT_TRUE(file->find("a"));
  EXPECT_THAT(file->dropped(), HasSubstr("found bytes with the checksum"));
}

TEST_F(UnfinishedRun, DoesNotUseThePartsOfARunThatIsNotContinuedButLeavesThem) {
  write_three();
  const std::string whole = read_text(path_);
  const auto file = open(EarlierParts::kept);
  EXPECT_EQ(file->found(), 3U);
  EXPECT_FALSE(file->find("a"));
  file->keep({part("a")});
  EXPECT_EQ(read_text(path_), whole);
}

TEST_F(UnfinishedRun, OfOtherInputsIsRefusedOrBegunAnew) {
  write_three();
  const std::string whole = read_text(path_);
  const auto refused = UnfinishedFile::open(path_, "version 1\ninput b", EarlierParts::used);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::malformed);
  EXPECT_THAT(refused.error().message,
              HasSubstr("keeps 3 parts of a run with other inputs: found 'input a', expected "
                        "'input b'; run without --resume"));
  EXPECT_EQ(read_text(path_), whole);

  const auto anew = open(EarlierParts::kept, "version 1\ninput b");
  EXPECT_EQ(anew->found(), 0U);
  EXPECT_THAT(anew->dropped(), HasSubstr("keeps 3 parts of a run with other inputs"));
  EXPECT_THAT(parse_parts(read_text(path_), path_).value().parts, IsEmpty());
}

TEST_F(UnfinishedRun, NeverOverwritesAnotherFile) {
  write("my notes\n");
  for (const EarlierParts earlier : {EarlierParts::used, EarlierParts::kept}) {
    const auto refused = UnfinishedFile::open(path_, "x", earlier);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("is not a list of finished parts"));
    EXPECT_EQ(read_text(path_), "my notes\n");
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(UnfinishedFile::open(path_, "x", EarlierParts::used));
}

TEST_F(UnfinishedRun, BeginsAnewIfNotEvenTheFirstRecordIsWhole) {
  const std::string head = [&] {
    open(EarlierParts::used);
    return read_text(path_);
  }();
  for (std::size_t size = 0; size < head.size(); ++size) {
    write(head.substr(0, size));
    EXPECT_EQ(open(EarlierParts::used)->found(), 0U) << size;
    EXPECT_EQ(read_text(path_), head) << size;
  }
}

TEST_F(UnfinishedRun, IsRemovedWhenItsRunIsComplete) {
  const auto file = open(EarlierParts::used);
  file->keep({part("a")});
  file->sync();
  file->remove();
  file->keep({part("b")});
  file->sync();
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(UnfinishedRun, HasANameForEachCommand) {
  EXPECT_EQ(unfinished_path("run.db", "kvcheck eval"), unfinished_path("run.db", "kvcheck eval"));
  EXPECT_NE(unfinished_path("run.db", "kvcheck eval"), unfinished_path("run.db", "kvcheck replay"));
  EXPECT_THAT(unfinished_path("run.db", "x"),
              testing::MatchesRegex("run\\.db\\.unfinished-[0-9a-f]+"));
}

}  // namespace
}  // namespace kv::reports

// What may be found beside a results file when a killed run is to be continued.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/unfinished/part_records.h"
#include "kvcheck/tests/cli/killed_run.h"

namespace kv {
namespace {

using test::clean_run;
using test::interrupt_when_grown;
using test::outputs_of;
using test::Place;
using test::Ran;
using test::read_text;
using test::Words;
using testing::HasSubstr;
using testing::IsEmpty;

const Words replay = test::long_replay();

// A killed replay, of which each test continues a copy.
class ResumeOfAKilledRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    killed_ = std::make_unique<Place>();
    ASSERT_TRUE(interrupt_when_grown(*killed_, killed_->outputs(replay, 2, false), 30000, SIGKILL));
    expected_ = std::make_unique<test::Outputs>(clean_run(replay));
  }

  static void TearDownTestSuite() {
    killed_.reset();
    expected_.reset();
  }

  void SetUp() override {
    ASSERT_TRUE(killed_);
    using std::filesystem::copy_options;
    for (const std::string& name : killed_->folder.names()) {
      std::filesystem::copy_file(killed_->folder / name, place_.folder / name,
                                 copy_options::overwrite_existing);
    }
    bytes_ = read_text(place_.parts());
  }

  [[nodiscard]] Ran resume() const { return test::run(place_.outputs(replay, 2, true)); }

  void write_parts(const std::string& bytes) const {
    std::ofstream(place_.parts(), std::ios::binary) << bytes;
  }

  void expect_whole(const Ran& ran) const {
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(outputs_of(place_, ran) == *expected_);
    EXPECT_THAT(place_.parts(), IsEmpty());
  }

  static std::unique_ptr<Place> killed_;
  static std::unique_ptr<test::Outputs> expected_;
  Place place_;
  std::string bytes_;
};

std::unique_ptr<Place> ResumeOfAKilledRun::killed_;
std::unique_ptr<test::Outputs> ResumeOfAKilledRun::expected_;

TEST_F(ResumeOfAKilledRun, SaysWhatItUses) {
  const std::size_t parts = reports::parse_parts(bytes_, "x").value().parts.size();
  const Ran ran = resume();
  EXPECT_THAT(ran.err, HasSubstr("Note: an interrupted run in '" + (place_.folder / "run.db") +
                                 "' continues, with " + std::to_string(parts) + " finished parts"));
  expect_whole(ran);
}

TEST_F(ResumeOfAKilledRun, DropsATornTail) {
  for (const std::size_t missing : {1U, 9U, 100U}) {
    SetUp();
    write_parts(bytes_.substr(0, bytes_.size() - missing));
    const Ran ran = resume();
    EXPECT_THAT(ran.err, HasSubstr("what is missing is computed again"));
    expect_whole(ran);
  }
}

TEST_F(ResumeOfAKilledRun, DropsWhatFollowsAFlippedByte) {
  std::string flipped = bytes_;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
  write_parts(flipped);
  const Ran ran = resume();
  EXPECT_THAT(ran.err, HasSubstr("found bytes with the checksum"));
  expect_whole(ran);
}

TEST_F(ResumeOfAKilledRun, NeedsNoParts) {
  std::filesystem::remove(place_.parts());
  const Ran ran = resume();
  EXPECT_THAT(ran.err, HasSubstr("continues, with 0 finished parts"));
  expect_whole(ran);
}

TEST_F(ResumeOfAKilledRun, LeavesAnotherFileAlone) {
  const std::string path = place_.parts();
  write_parts("my notes\n");
  for (const bool resumes : {true, false}) {
    const Ran ran = test::run(place_.outputs(replay, 2, resumes));
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("is not a list of finished parts"));
    EXPECT_EQ(read_text(path), "my notes\n");
    EXPECT_EQ(reports::list_runs(place_.folder / "run.db").value().size(), 1U);
  }
}

TEST_F(ResumeOfAKilledRun, BeginsAnewWithoutTheOptionAndSaysSo) {
  const Ran ran = test::run(place_.outputs(replay, 2, false));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err,
              HasSubstr("of an interrupted run of this command, which --resume would use"));
  const auto runs = reports::list_runs(place_.folder / "run.db").value();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_FALSE(runs[0].complete);
  EXPECT_TRUE(runs[1].complete);
}

TEST_F(ResumeOfAKilledRun, OfAnotherCommandIsANewRun) {
  Words other = replay;
  std::ranges::replace(other, "8,12", "8,13");
  const std::string kept = place_.parts();
  const Ran ran = test::run(place_.outputs(other, 2, true));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("holds no unfinished run of this command; a new one begins"));
  EXPECT_EQ(read_text(kept), bytes_) << "the other command's parts are still there";
}

TEST(Resume, RefusesInputsThatChanged) {
  const Place place;
  const std::string trace = place.folder / "copy.safetensors";
  std::filesystem::copy_file(test::a_trace(), trace);
  Words command = replay;
  command[1] = trace;
  ASSERT_TRUE(interrupt_when_grown(place, place.outputs(command, 2, false), 20000, SIGKILL));
  const std::string parts = read_text(place.parts());
  std::fstream file(trace, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-2, std::ios::end);
  file.write("\x01", 1);
  file.close();

  const Ran refused = test::run(place.outputs(command, 2, true));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("parts of a run with other inputs: found 'trace 'copy"));
  EXPECT_THAT(refused.err, HasSubstr("run without --resume to begin anew"));
  EXPECT_EQ(read_text(place.parts()), parts);

  const Ran anew = test::run(place.outputs(command, 2, false));
  EXPECT_EQ(anew.status, 0) << anew.err;
  EXPECT_THAT(anew.err, HasSubstr("parts of a run with other inputs"));
}

}  // namespace
}  // namespace kv

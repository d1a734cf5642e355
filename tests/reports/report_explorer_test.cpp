// The explorer's page in the folder of a report.
#include <filesystem>

#include "kvcheck/reports/page/report.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::taken;

class ReportExplorer : public ::testing::Test {
 protected:
  // The page of a report on one replay.
  std::string page_of(const ReplayResult& replay) {
    auto writer = taken(ResultsWriter::begin(db_, "kvcheck replay"));
    EXPECT_TRUE(writer.add(replay));
    EXPECT_TRUE(writer.finish());
    EXPECT_TRUE(write_report(db_, 1, out_));
    return testing::read_text(out_ + "/index.html");
  }

  [[nodiscard]] bool explorer_there() const {
    return std::filesystem::exists(out_ + "/explore-1.html");
  }

  testing::TemporaryFolder folder_;
  std::string db_ = folder_.path("run.db");
  std::string out_ = folder_.path("out");
};

TEST_F(ReportExplorer, IsLeftOutWithoutResidency) {
  ReplayResult replay = testing::fake_replay(testing::small_fake());
  for (CellResult& cell : replay.cells) cell.residency.clear();
  EXPECT_THAT(page_of(replay), Not(HasSubstr("explore-")));
  EXPECT_FALSE(explorer_there());
}

TEST_F(ReportExplorer, IsLeftOutWhereItWouldBeLarge) {
  ReplayResult replay = testing::fake_replay(testing::small_fake());
  for (CellResult& cell : replay.cells) {
    if (cell.residency.empty()) continue;
    cell.residency.resize(6'000'000 / replay.trace.tokens + 1, cell.residency.front());
    break;
  }
  EXPECT_THAT(page_of(replay), Not(HasSubstr("explore-")));
  EXPECT_FALSE(explorer_there());
}

TEST_F(ReportExplorer, HasTheFirstSeedsWhereAllWouldBeLarge) {
  ReplayResult replay = testing::fake_replay(testing::small_fake());
  // The last cell is of the second seed.
  CellResult& last = replay.cells.back();
  ASSERT_EQ(last.cell.spec, replay.cells[replay.cells.size() - 2].cell.spec);
  last.residency.resize(6'000'000 / replay.trace.tokens + 1, last.residency.front());
  EXPECT_THAT(page_of(replay), HasSubstr("explore-1.html"));
  EXPECT_TRUE(explorer_there());
}

}  // namespace
}  // namespace kv::reports

// Timings in the results file, as a table, a figure and a report; and both loops side by side.
#include <cmath>
#include <filesystem>

#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/tables/loops_table.h"
#include "kvcheck/reports/tables/timing_table.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

using testing::fake_timing;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::taken;
using testing::TemporaryFolder;

std::string stored(const TemporaryFolder& folder) {
  std::string path = folder.path("run.db");
  ResultsWriter writer = taken(ResultsWriter::begin(path, "kvcheck speed --model m"));
  EXPECT_TRUE(writer.add(fake_timing()));
  EXPECT_TRUE(writer.finish());
  return path;
}

TEST(Timings, ReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string path = stored(folder);
  const StoredRun run = taken(read_run(path));
  EXPECT_EQ(run.summary.timings, 1U);
  EXPECT_EQ(run.summary.cells, 6U);
  ASSERT_EQ(run.timings.size(), 1U);
  const TimingResult& read = run.timings.front();
  const TimingResult written = fake_timing();
  EXPECT_EQ(to_csv(timing_table(read)), to_csv(timing_table(written)));
  EXPECT_EQ(timing_line(read), "model <m>: 5000 bytes of weights; medians of 7 tokens");
  EXPECT_EQ(read.weights, "nf4");
  EXPECT_EQ(read.storage, "f16");
  EXPECT_EQ(read.cells[3].cell, written.cells[3].cell);
  EXPECT_EQ(read.cells[3].attention_s, written.cells[3].attention_s);
}

TEST(Timings, StandBesideOtherRunsAndAreTakenBack) {
  const TemporaryFolder folder;
  const std::string path = stored(folder);
  ResultsWriter writer = taken(ResultsWriter::begin(path, "kvcheck speed again"));
  ASSERT_TRUE(writer.add(fake_timing()));
  ASSERT_TRUE(writer.discard());
  EXPECT_EQ(taken(list_runs(path)).size(), 1U);
  EXPECT_EQ(taken(read_newest_runs(path)).size(), 1U);
}

TEST(Timings, ComplainOfWhatTheyDidNotWrite) {
  for (const std::string tampering : {"token_s = -1", "spec = 'windoww'", "seed = 'x'"}) {
    const TemporaryFolder folder;
    const std::string path = stored(folder);
    {
      Database database = taken(Database::open(path));
      ASSERT_TRUE(database.execute(("UPDATE timed_cells SET " + tampering).c_str()));
    }
    const auto run = read_run(path);
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().message, HasSubstr("is damaged: column timed_cells."));
  }
}

TEST(Timings, AreDrawnAgainstLength) {
  const Figure figure = timing_figure(fake_timing());
  EXPECT_THAT(figure.csv, HasSubstr("window (64),token,1024,1.024\n"));
  EXPECT_THAT(figure.csv, HasSubstr("dense,kv,256,3\n"));
  EXPECT_THAT(figure.csv, HasSubstr("dense,peak,256,1\n"));
  TimingResult one = fake_timing();
  std::erase_if(one.cells, [](const TimedCell& cell) { return cell.length > 256; });
  EXPECT_EQ(timing_figure(one).body, "");
}

TEST(Timings, AreASectionOfTheReport) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_report(stored(folder), 0, folder.path("report")));
  const std::string page = read_text(folder.path("report/index.html"));
  EXPECT_THAT(page, HasSubstr("<section id=\"timing-1\">"));
  EXPECT_THAT(page, HasSubstr("model &lt;m&gt;: time and memory"));
  EXPECT_THAT(page, Not(HasSubstr("<m>")));
  EXPECT_EQ(read_text(folder.path("report/timing-1/timings.csv")),
            to_csv(timing_table(fake_timing())));
  EXPECT_TRUE(std::filesystem::exists(folder.path("report/timing-1/speed.svg")));
  // Such a report may be replaced like any other.
  EXPECT_TRUE(write_report(stored(folder), 0, folder.path("report")));
}

TEST(RankCorrelation, IsThatOfRanks) {
  const std::vector<double> rising = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(rank_correlation(rising, std::vector<double>{1, 10, 11, 12, 1e9}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(rising, std::vector<double>{5, 4, 3, 2, 1}), -1);
  // 1 - 6 * (1 + 1) / (5 * 24): two neighbours changed places.
  EXPECT_DOUBLE_EQ(rank_correlation(rising, std::vector<double>{2, 1, 3, 4, 5}), 0.9);
  // Ranks 1.5, 1.5, 3 against 1, 2, 3: 1.5 / sqrt(1.5 * 2).
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector<double>{4, 4, 7}, std::vector<double>{1, 2, 3}),
                   1.5 / std::sqrt(3.0));
  EXPECT_TRUE(std::isnan(rank_correlation(rising, std::vector<double>(5, 2))));
  EXPECT_TRUE(std::isnan(rank_correlation({}, {})));
}

TEST(Loops, StandSideBySide) {
  ClosedLoopResult result;
  result.segment = 16;
  result.series_width = 16;
  double mass = 0.9;
  for (const std::string spec : {"h2o:sinks=4,budget=32", "streaming:sinks=1,budget=32",
                                 "window:budget=32", "window:budget=64"}) {
    ClosedLoopCell cell;
    cell.cell.spec = taken(parse_spec(spec));
    cell.series = {{.first = 0, .targets = 1, .nats = mass < 0.5 ? 2.5 : 1 - mass}};
    result.cells.push_back(cell);
    EXPECT_FALSE(has_open_loop(result));
    mass -= 0.2;
  }
  mass = 0.9;
  for (ClosedLoopCell& cell : result.cells) {
    cell.retained_mass = mass;
    mass -= 0.2;
  }
  ASSERT_TRUE(has_open_loop(result));
  EXPECT_THAT(to_csv(loops_table(result)), HasSubstr(",32,0.9,1.10517"));
  // The last two have one perplexity: ranks 1.5, 1.5, 3, 4 against 1, 2, 3, 4.
  EXPECT_THAT(loops_words(result),
              HasSubstr("less perplexity: 0.949 over all 4, 1.000 over the 3 at budget 32."));
}

}  // namespace
}  // namespace kv::reports

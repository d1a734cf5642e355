// Timings in the results file, as a table, a figure and a report; and both loops side by side.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/result_rows.h"
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
  EXPECT_EQ(to_csv(timing_rows(read)), to_csv(timing_rows(written)));
  EXPECT_EQ(timing_line(read), "model <m>: 5000 bytes of weights; medians of 7 tokens");
  EXPECT_EQ(read.weights, "nf4");
  EXPECT_EQ(read.storage, "f16");
  EXPECT_EQ(read.cells[3].cell, written.cells[3].cell);
  EXPECT_EQ(read.cells[3].attention_s, written.cells[3].attention_s);
}

// fake_timing() three times; run N took N times as long at 256 tokens, and N - 1 MiB more.
TimingResult repeated_timing() {
  TimingResult result = fake_timing();
  for (TimedCell& cell : result.cells) {
    cell.mean_token_s = 2 * cell.token_s;
    cell.kernels = "avx2";
    cell.processor = "a, model 1";
  }
  result.threads = 2;
  const std::vector<TimedCell> once = std::exchange(result.cells, {});
  for (const std::size_t repetition : {1U, 2U, 3U}) {
    for (TimedCell cell : once) {
      cell.repetition = repetition;
      if (cell.length == 256) cell.token_s *= static_cast<double>(repetition);
      if (cell.length == 256) cell.mean_token_s *= static_cast<double>(repetition);
      cell.peak_bytes += (repetition - 1) << 20U;
      result.cells.push_back(cell);
    }
  }
  return result;
}

TEST(Timings, KeepTheirRepetitionsAndThreads) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  {
    ResultsWriter writer = taken(ResultsWriter::begin(path, "kvcheck speed --runs 3"));
    ASSERT_TRUE(writer.add(repeated_timing()));
    ASSERT_TRUE(writer.finish());
  }
  const TimingResult read = taken(read_run(path)).timings.front();
  EXPECT_EQ(timing_json(read), timing_json(repeated_timing()));
  EXPECT_THAT(timing_json(read),
              HasSubstr("\"repetition\":3,\"tokens\":7,\"threads\":2,\"kernels\":\"avx2\","
                        "\"processor\":\"a, model 1\","));
  EXPECT_THAT(timing_json(read), HasSubstr("\"token_s\":0.000256,\"mean_token_s\":0.000512,"));
  Database database = taken(Database::open(path));
  const auto complains = [&](const char* change) {
    Transaction undone(database);
    EXPECT_TRUE(database.execute(change));
    const auto run = select_timing(database, 1);
    return run ? std::string() : run.error().message;
  };
  for (const char* const change : {"UPDATE timed_repetitions SET repetition = 0 WHERE ordinal = 2",
                                   "DELETE FROM timed_repetitions WHERE ordinal = 2"}) {
    EXPECT_THAT(complains(change), HasSubstr("column timed_repetitions.repetition")) << change;
  }
  EXPECT_NE(complains("UPDATE timing_threads SET threads = 'x'"), "");
  EXPECT_THAT(complains("UPDATE timed_details SET mean_token_s = -1 WHERE ordinal = 2"),
              HasSubstr("column timed_details.mean_token_s"));
  EXPECT_NE(complains("UPDATE timed_details SET kernels = x'00' WHERE ordinal = 2"), "");
  // A file of the version before: no means, and nothing about the machine.
  ASSERT_TRUE(database.execute(
      "DROP TABLE eval_inputs; DROP TABLE task_inputs; DROP TABLE task_item_texts; "
      "DROP TABLE eval_after; DROP TABLE eval_open_loop; "
      "DROP TABLE timed_details; PRAGMA user_version=9"));
  const TimingResult bare = taken(read_run(path)).timings.front();
  EXPECT_EQ(bare.threads, 2U);
  EXPECT_EQ(bare.cells[17].mean_token_s, 0);
  EXPECT_EQ(bare.cells[17].kernels + bare.cells[17].processor, "");
  // Of the one before that: everything was timed once, and it does not say on how many threads.
  ASSERT_TRUE(database.execute(
      "DROP TABLE timed_repetitions; DROP TABLE timing_threads; PRAGMA user_version=8"));
  const TimingResult old = taken(read_run(path)).timings.front();
  EXPECT_EQ(old.threads, 0U);
  EXPECT_EQ(old.cells[17].repetition, 1U);
  EXPECT_EQ(old.cells[17].token_s, repeated_timing().cells[17].token_s);
}

TEST(Timings, OfSeveralRunsAreShownAsMedians) {
  const Table table = timing_table(repeated_timing());
  ASSERT_EQ(table.rows.size(), 6U);
  EXPECT_EQ(table.rows[0][4].text, "0.512 (0.256 to 0.768)");
  EXPECT_EQ(table.rows[0][4].exact, "0.512");
  EXPECT_EQ(table.rows[0][5].text, "1.02 (0.512 to 1.54)");
  EXPECT_EQ(table.rows[0][6].text, "1953 (1302 to 3906)");
  EXPECT_EQ(table.rows[1][4].text, "1.02");
  EXPECT_EQ(table.rows[0][9].text, "2 (1 to 3)");
  EXPECT_EQ(timing_line(repeated_timing()),
            "model <m>: 5000 bytes of weights; medians of 7 tokens on 2 threads, and of 3 runs "
            "(least to most); avx2 kernels on a, model 1");
  EXPECT_EQ(std::ranges::count(to_csv(timing_rows(repeated_timing())), '\n'), 1 + 18);
  const Figure figure = timing_figure(repeated_timing());
  EXPECT_THAT(figure.csv, HasSubstr("dense,token,256,0.512\n"));
  EXPECT_THAT(figure.csv, Not(HasSubstr("dense,token,256,0.256\n")));
  EXPECT_THAT(figure.caption, HasSubstr("; medians of 3 runs."));
  EXPECT_THAT(timing_figure(fake_timing()).caption, Not(HasSubstr("runs.")));
}

TEST(Timings, NameEveryMachineThatIsKnown) {
  TimingResult result = fake_timing();
  EXPECT_EQ(timing_table(result).rows[0][5].text, "");
  result.tokens = 1;
  result.cells[1].kernels = "sse4";
  result.cells[2].processor = "b\n";
  result.cells[3].processor = "b\n";
  result.cells[3].mean_token_s = 1;
  EXPECT_EQ(timing_line(result),
            "model <m>: 5000 bytes of weights; medians of 1 token; sse4 kernels on an unknown "
            "processor; unknown kernels on b\\x0a");
  // Of two repetitions the mean of one is not known.
  result.cells[2].length = result.cells[3].length;
  const std::vector<TimedSummary> summaries = timed_summaries(result);
  EXPECT_EQ(summaries[2].runs, 2U);
  EXPECT_EQ(summaries[2].median.mean_token_s, 0);
}

TEST(Timings, HaveMediansOfEvenCountsBetweenTheTwoInTheMiddle) {
  TimingResult result = repeated_timing();
  std::erase_if(result.cells, [](const TimedCell& cell) { return cell.repetition == 2; });
  const std::vector<TimedSummary> summaries = timed_summaries(result);
  ASSERT_EQ(summaries.size(), 6U);
  EXPECT_EQ(summaries[0].runs, 2U);
  EXPECT_DOUBLE_EQ(summaries[0].median.token_s, 512e-6);
  EXPECT_DOUBLE_EQ(summaries[0].least.token_s, 256e-6);
  EXPECT_DOUBLE_EQ(summaries[0].most.token_s, 768e-6);
  EXPECT_EQ(summaries[0].median.peak_bytes, std::size_t{2} << 20U);
  // Another seed is another cell.
  result.cells.back().cell.seed = 5;
  EXPECT_EQ(timed_summaries(result).size(), 7U);
}

TEST(Timings, StandBesideOtherRunsAndAreTakenBack) {
  const TemporaryFolder folder;
  const std::string path = stored(folder);
  ResultsWriter writer = taken(ResultsWriter::begin(path, "kvcheck speed again"));
  ASSERT_TRUE(writer.add(fake_timing()));
  ASSERT_TRUE(writer.discard());
  EXPECT_EQ(taken(list_runs(path)).size(), 1U);
  EXPECT_EQ(taken(read_newest_runs(path)).size(), 1U);
  Database database = taken(Database::open(path));
  Statement left(database,
                 "SELECT (SELECT count(*) FROM timed_repetitions), (SELECT count(*) FROM"
                 " timing_threads)");
  ASSERT_TRUE(taken(left.next()));
  EXPECT_EQ(left.integer(0), 6);
  EXPECT_EQ(left.integer(1), 1);
}

TEST(Timings, ComplainOfWhatTheyDidNotWrite) {
  for (const std::string tampering : {"token_s = -1", "spec = 'window:x=1'", "seed = 'x'"}) {
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
            to_csv(timing_rows(fake_timing())));
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
  EXPECT_THAT(
      loops_words(result),
      HasSubstr("less perplexity: 0.949 over all 4, 1.000 over the 3 that store at most 32."));
  result.cells[2].cell.spec = taken(parse_spec("window:budget=32;timing=lazy:8"));
  EXPECT_THAT(loops_words(result), ::testing::EndsWith("0.949 over all 4."));
  // Once evicting, the order is another one, and budgets are not joined.
  result.cells[2].cell.spec = taken(parse_spec("window:budget=32"));
  result.tokens = 100;
  for (std::size_t i = 0; i < 3; ++i) {
    ClosedLoopCell& cell = result.cells[i];
    cell.queries_after = 95;
    cell.targets_after = 1;
    cell.nats_after = std::vector<double>{2, 3, 1}[i];
  }
  EXPECT_DOUBLE_EQ(result.cells[1].retained_mass_after(100), 1 - 0.3 * 100 / 95);
  EXPECT_THAT(to_csv(loops_table(result)), HasSubstr(",0.684"));
  EXPECT_THAT(loops_words(result),
              ::testing::AllOf(
                  HasSubstr("retained mass once evicting ("), HasSubstr("perplexity once evicting"),
                  ::testing::EndsWith("less perplexity: -0.500 over the 3 that store at "
                                      "most 32.")));
  result.cells[2].queries_after = 0;
  EXPECT_THAT(loops_words(result), HasSubstr("needs three specs of one budget"));
}

}  // namespace
}  // namespace kv::reports

// kvcheck sweep: which cells it runs, and that the tables do not depend on how it ran them.
#include <fstream>
#include <regex>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"

namespace kv {
namespace {

using test::a_trace;
using test::Ran;
using test::run;
using test::table_dump;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A plan of two traces in the folder, with these fields added to those of the replay.
std::string plan_in(const TemporaryFolder& folder,
                    const std::string& policies,
                    const std::string& more = "",
                    const std::string& detail = "summary") {
  const std::string path = folder / "plan.json";
  std::ofstream(path) << R"({"replay": {"traces": ["synthetic:zipf:tokens=64,kind=qkv", ")"
                      << a_trace() << R"("], "policies": [)" << policies << R"(], "budgets": [16])"
                      << more << R"(}, "detail": ")" << detail << "\"}\n";
  return path;
}

// Policies of every kind of unit, of one that draws and of one that never evicts.
constexpr std::string_view kinds =
    R"("dense", "h2o", "reservoir", "random", "streaming;unit=layer", "h2o;unit=model",
       "snapkv;budgets=adaptive:0.2", "keydiff", "tova", "window", "fifo", "lru", "lagkv")";

std::string swept(const std::string& plan, const std::string& output, const std::string& threads) {
  const Ran ran = run({"sweep", plan, "-o", output, "--threads", threads});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(SweepCommand, HasTheSameTablesForAnyNumberOfThreads) {
  for (const std::string detail : {"summary", "series"}) {
    const TemporaryFolder folder;
    // Seven blocks a trace, so that their order depends on threads.
    const std::string plan = plan_in(folder, std::string(kinds), R"(, "seeds": 40)", detail);
    for (const std::string threads : {"1", "2", "9"}) swept(plan, folder / threads, threads);
    const std::string one = table_dump(folder / "1");
    EXPECT_EQ(table_dump(folder / "2"), one);
    EXPECT_EQ(table_dump(folder / "9"), one);
  }
}

TEST(SweepCommand, HasTheNumbersOfAReplay) {
  const TemporaryFolder folder;
  swept(plan_in(folder, std::string(kinds), "", "series"), folder / "run.db", "3");
  swept(plan_in(folder, std::string(kinds)), folder / "summaries.db", "3");
  test::Words words = {"replay", "synthetic:zipf:tokens=64,kind=qkv", a_trace(), "--budget", "16"};
  for (const std::string policy :
       {"dense", "h2o", "reservoir", "random", "streaming;unit=layer", "h2o;unit=model",
        "snapkv;budgets=adaptive:0.2", "keydiff", "tova", "window", "fifo", "lru", "lagkv"}) {
    words = test::with(words, {"--policy", policy});
  }
  ASSERT_EQ(run(test::with(words, {"-o", folder / "replay.db"})).status, 0);
  const auto full = reports::read_run(folder / "run.db").value();
  const auto summaries = reports::read_run(folder / "summaries.db").value();
  const auto replay = reports::read_run(folder / "replay.db").value();
  ASSERT_EQ(full.traces.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    ASSERT_EQ(full.traces[t].cells.size(), 13U);
    for (std::size_t i = 0; i < 13; ++i) {
      const CellResult& expected = replay.traces[t].cells[i];
      const CellResult& cell = full.traces[t].cells[i];
      const CellResult& summary = summaries.traces[t].cells[i];
      ASSERT_EQ(cell.cell, expected.cell);
      ASSERT_EQ(cell.heads.size(), expected.heads.size());
      for (std::size_t h = 0; h < cell.heads.size(); ++h) {
        EXPECT_EQ(cell.heads[h].metrics, expected.heads[h].metrics) << i;
      }
      EXPECT_EQ(cell.kept, expected.kept);
      EXPECT_EQ(cell.lifetimes, expected.lifetimes);
      EXPECT_EQ(cell.series.size(), expected.series.size());
      EXPECT_EQ(reports::means_of(summary), reports::means_of(expected));
      EXPECT_EQ(reports::sizes_of(summary).bytes_peak, reports::sizes_of(expected).bytes_peak);
      EXPECT_EQ(reports::sizes_of(summary).kept_at_end, reports::sizes_of(expected).kept_at_end);
    }
  }
}

TEST(SweepCommand, RunsNothingThatTheFileHolds) {
  const TemporaryFolder folder;
  const std::string plan = plan_in(folder, R"("h2o", "fifo", "random")", R"(, "seeds": 2)");
  const std::string output = folder / "run.db";
  EXPECT_THAT(swept(plan, output, "2"), HasSubstr("holds 8 of 8 cells of the plan: 8 were run"));
  const std::string before = test::read_text(output);
  EXPECT_THAT(swept(plan, output, "2"), HasSubstr(": 0 were run, 0 were taken from earlier runs, "
                                                  "8 were there"));
  EXPECT_TRUE(test::read_text(output) == before);
}

TEST(SweepCommand, TakesOverTheCellsOfAShorterPlan) {
  const TemporaryFolder folder;
  const std::string output = folder / "run.db";
  swept(plan_in(folder, R"("h2o", "random")"), output, "2");
  const std::string longer = plan_in(folder, R"("tova", "h2o", "random")", R"(, "seeds": 2)");
  EXPECT_THAT(swept(longer, output, "1"),
              HasSubstr("holds 8 of 8 cells of the plan: 4 were run, 4 were taken"));
  swept(longer, folder / "fresh.db", "1");
  const auto run = reports::read_run(output, 2).value();
  const auto fresh = reports::read_run(folder / "fresh.db").value();
  ASSERT_EQ(run.traces.size(), fresh.traces.size());
  for (std::size_t t = 0; t < run.traces.size(); ++t) {
    for (std::size_t i = 0; i < run.traces[t].cells.size(); ++i) {
      EXPECT_EQ(reports::means_of(run.traces[t].cells[i]),
                reports::means_of(fresh.traces[t].cells[i]));
      EXPECT_EQ(run.traces[t].cells[i].cell, fresh.traces[t].cells[i].cell);
    }
    EXPECT_EQ(run.traces[t].map.mass, fresh.traces[t].map.mass);
  }
}

TEST(SweepCommand, TakesNoCellOfAnotherTopKOrWithLessDetail) {
  const TemporaryFolder folder;
  const std::string output = folder / "run.db";
  swept(plan_in(folder, R"("h2o")"), output, "2");
  EXPECT_THAT(swept(plan_in(folder, R"("h2o")", R"(, "top-k": 3)"), output, "2"),
              HasSubstr(": 2 were run, 0 were taken"));
  EXPECT_THAT(swept(plan_in(folder, R"("h2o")", "", "heads"), output, "2"),
              HasSubstr(": 2 were run, 0 were taken"));
  EXPECT_THAT(swept(plan_in(folder, R"("h2o", "fifo")"), output, "2"),
              HasSubstr(": 2 were run, 2 were taken"));
}

TEST(SweepCommand, LeavesOutBudgetsAboveATrace) {
  const TemporaryFolder folder;
  const std::string plan = folder / "plan.json";
  const std::string start =
      R"({"replay": {"traces": ["synthetic:zipf:tokens=64", "synthetic:zipf:tokens=20"],
          "policies": ["h2o"], "budgets": [16, 32])";
  std::ofstream(plan) << start << "}}";
  const Ran ran = run({"sweep", plan, "-o", folder / "run.db"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("holds 3 of 3 cells"));
  EXPECT_THAT(ran.err, HasSubstr("is replayed without budget 32, above its 20 tokens"));
  std::ofstream(plan) << start << R"(, "strict": true}})";
  const Ran strict = run({"sweep", plan, "-o", folder / "strict.db"});
  EXPECT_EQ(strict.status, 2);
  EXPECT_THAT(strict.err, HasSubstr("plan.replay.traces[1]: budget 32 is above the 20 tokens"));
}

TEST(SweepCommand, SaysThatNothingIsEvicted) {
  const TemporaryFolder folder;
  const std::string plan = folder / "plan.json";
  std::ofstream(plan) << R"({"replay": {"traces": ["synthetic:zipf:tokens=64"],
      "policies": ["h2o"], "budgets": [32, 64]}})";
  const Ran ran = run({"sweep", plan, "--dry-run"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("Note: h2o at 64: no token is left out"));
  std::ofstream(plan) << R"({"replay": {"traces": ["synthetic:zipf:tokens=64"],
      "policies": ["h2o"], "budgets": [32, 128]}})";
  const Ran above = run({"sweep", plan, "--dry-run"});
  EXPECT_THAT(above.err, HasSubstr("is replayed without budget 128"));
  EXPECT_THAT(above.err, Not(HasSubstr("no token is left out")));
}

TEST(SweepCommand, DryRunSaysWhatTheSweepNeedsAndWritesNothing) {
  const TemporaryFolder folder;
  const std::string plan = plan_in(folder, std::string(kinds), R"(, "seeds": 5)");
  const Ran ran = run({"sweep", plan, "--dry-run", "--threads", "2"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("Cells:   42, on 2 traces\nTime:    about 0:0"));
  EXPECT_THAT(ran.out, HasSubstr("\nMemory:  at most "));
  EXPECT_THAT(ran.out, HasSubstr("\nFile:    about "));
  EXPECT_THAT(folder.names(), ElementsAre("plan.json"));
}

TEST(SweepCommand, DryRunWithAFileIsOfWhatItDoesNotHold) {
  const TemporaryFolder folder;
  const std::string plan = plan_in(folder, std::string(kinds), R"(, "seeds": 5)");
  const std::string file = folder / "run.db";
  EXPECT_THAT(run({"sweep", plan, "--dry-run", "-o", file}).out, HasSubstr("Cells:   42, on 2"));
  EXPECT_THAT(folder.names(), ElementsAre("plan.json"));
  ASSERT_EQ(run({"sweep", plan, "-o", file, "--shard", "1/2", "-q"}).status, 0);
  const std::string before = test::read_text(file);
  const Ran ran = run({"sweep", plan, "--dry-run", "-o", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::smatch cells;
  ASSERT_TRUE(std::regex_search(
      ran.out, cells,
      std::regex("Cells:   (\\d+), on 2 traces, beside (\\d+) in '" + file + "'\n")));
  EXPECT_EQ(std::stoi(cells[1]) + std::stoi(cells[2]), 42);
  EXPECT_GT(std::stoi(cells[1]), 0);
  EXPECT_GT(std::stoi(cells[2]), 0);
  EXPECT_EQ(test::read_text(file), before);
  ASSERT_EQ(run({"sweep", plan, "-o", file, "-q"}).status, 0);
  EXPECT_THAT(run({"sweep", plan, "--dry-run", "-o", file}).out,
              AllOf(HasSubstr("Cells:   0, on 2 traces, beside 42 in"), HasSubstr("about 0:00:00"),
                    HasSubstr("File:    about 0 bytes more")));
  // Another plan holds nothing of it.
  const std::string other = plan_in(folder, std::string(kinds), R"(, "seeds": 4)");
  EXPECT_THAT(run({"sweep", other, "--dry-run", "-o", file}).out, Not(HasSubstr("beside")));
  EXPECT_EQ(run({"sweep", other, "--dry-run", "-o", plan}).status, 2);
}

// The disk is full before the one cell is finished: the same command has nothing to continue.
TEST(SweepCommand, ThatFinishedNoCellLeavesNoFile) {
  const TemporaryFolder folder;
  const std::string plan = folder / "plan.json";
  std::ofstream(plan) << R"({"replay": {"traces": ["synthetic:zipf:tokens=64"],
                          "policies": ["h2o"], "budgets": [16]}, "detail": "summary"})";
  bool said = false;
  int status = 2;
  for (int kib = 60; status != 0; kib += 10) {
    ASSERT_LT(kib, 1000);
    const Ran ran = test::run_shell("ulimit -f " + std::to_string(2 * kib) + "; $K sweep '" + plan +
                                    "' -q -o '" + (folder / "run.db") + "'");
    status = ran.status;
    if (status == 0) break;
    ASSERT_EQ(status, 2);
    said = said || ran.err.find("; no cell was finished") != std::string::npos;
    EXPECT_THAT(ran.err, Not(HasSubstr("continues")));
    EXPECT_THAT(folder.names(), ElementsAre("plan.json"));
  }
  EXPECT_TRUE(said);
}

TEST(SweepCommand, OfAWrongPlanIsOneSentenceAndNoFile) {
  struct Wrong {
    std::string plan;
    std::string sentence;
  };

  const std::string trace = R"({"replay": {"traces": ["synthetic:zipf:tokens=64"], )";
  for (const Wrong& wrong : std::vector<Wrong>{
           {"{\n\"replay\": {,}}", "' is not JSON in line 2 (syntax error); expected a plan"},
           {"\xEF\xBB\xBF{\"replay\": {}}", "' begins with a byte order mark; expected a file"},
           {"{\n\"replay\": {\"traces\": [\"a\xff\"]}}",
            "' is not UTF-8 at byte 26, in line 2; expected a plan"},
           {R"({"replay": {"traces": ["a"], "policies": ["h2o"], "policies": ["dense"]}})",
            "' has the field 'policies' twice in one object; expected each field once"},
           {"{\"replay\": {\"policies\": [\"h2o\"],\n\"traces\": [\"a\"],\n\"policies\":\n[]}}",
            "' has the field 'policies' twice in one object, the second time in line 3; expected "
            "each"},
           {R"({"reply": {}})", "plan: unknown field 'reply'; did you mean 'replay'?"},
           {trace + R"("policies": ["h20"], "budgets": [16]}})",
            "plan.replay.policies[0]: in spec 'h20': unknown policy 'h20'; did you mean 'h2o'?"},
           {trace + R"("policies": ["h2o"], "budgts": [16]}})",
            "plan.replay: unknown field 'budgts'; did you mean 'budgets'?"},
           {trace + R"("policies": ["h2o"], "budgets": [16, 16]}})",
            "plan.replay.budgets[1]: 16 is given twice"},
           {trace + R"("policies": ["h2o", "fifo", "h2o"], "budgets": [16]}})",
            "plan.replay.policies[2]: 'h2o' is given twice"},
           {trace + R"("policies": ["h2o"], "budgets": [0]}})", "plan.replay.budgets[0]: "},
           {trace + R"("policies": ["h2o"], "budgets": [16]}, "detail": "sumary"})",
            "plan.detail: unknown detail 'sumary'; did you mean 'summary'?"},
           {trace + R"("policies": ["h2o"], "budgets": [65]}})", "none of its cells can run"},
           {trace + R"("policies": ["keydiff"], "budgets": [16]}})", "plan.replay.traces[0]: "},
           {R"({"replay": {"traces": ["none.npy"], "policies": ["h2o"]}})",
            "plan.replay.traces[0]: cannot open 'none.npy'"},
           {R"({"replay": {"traces": ["synthetic:zif"], "policies": ["h2o"]}})",
            "plan.replay.traces[0]: unknown generator 'zif'; did you mean 'zipf'?"}}) {
    const TemporaryFolder folder;
    std::ofstream(folder / "p.json") << wrong.plan;
    const Ran ran = run({"sweep", folder / "p.json", "-o", folder / "run.db"});
    EXPECT_EQ(ran.status, 2) << wrong.plan;
    EXPECT_THAT(ran.err, HasSubstr(wrong.sentence));
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(folder.names(), ElementsAre("p.json"));
  }
}

TEST(SweepCommand, ASummaryIsReadByReportAndCompare) {
  const TemporaryFolder folder;
  swept(plan_in(folder, R"("dense", "h2o", "random")", R"(, "seeds": 3)"), folder / "run.db", "2");
  const Ran report = run({"report", folder / "run.db", "-o", folder / "report"});
  EXPECT_EQ(report.status, 0) << report.err;
  const std::string cells = test::read_text(folder / "report/trace-2/cells.csv");
  EXPECT_THAT(cells, HasSubstr(",24,24,512,16"));
  const Ran compare = run({"compare", folder / "run.db", folder / "run.db"});
  EXPECT_EQ(compare.status, 0) << compare.err;
}

}  // namespace
}  // namespace kv

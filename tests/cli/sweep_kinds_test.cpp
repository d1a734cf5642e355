// kvcheck sweep of evaluations and of tasks: their numbers are those of kvcheck eval, and their
// tables do not depend on how the sweep was run.
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/sweep_kinds.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using test::SweepKinds;
using test::table_dump;
using test::TemporaryFolder;
using test::Words;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(SweepKinds, EvaluationsHaveTheNumbersOfEval) {
  sweep(evaluations(R"(, "windows": [0, 64], "open-loop": true, "seeds": [7])", "series"),
        "run.db");
  const auto sweep = read("run.db");
  ASSERT_THAT(sweep.evaluations, SizeIs(6));
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(run({"eval",
                   "--model",
                   test::a_model(),
                   "--text",
                   folder_ / "text-" + std::to_string(i),
                   "--windows",
                   "0,64",
                   "--open-loop",
                   "--seed",
                   "7",
                   "--policy",
                   "dense",
                   "--policy",
                   "h2o",
                   "--policy",
                   "random",
                   "--budget",
                   "16,32",
                   "-o",
                   folder_ / "eval.db"})
                  .status,
              0);
    const auto eval =
        reports::read_run(folder_ / "eval.db", static_cast<std::int64_t>(i + 1)).value();
    for (std::size_t window = 0; window < 2; ++window) {
      const ClosedLoopResult& mine = sweep.evaluations[2 * i + window];
      const ClosedLoopResult& theirs = eval.evaluations[window];
      EXPECT_EQ(mine.text, theirs.text);
      EXPECT_EQ(mine.window, theirs.window);
      EXPECT_EQ(mine.tokens, theirs.tokens);
      ASSERT_THAT(mine.cells, SizeIs(5));
      for (std::size_t c = 0; c < 5; ++c) {
        EXPECT_EQ(mine.cells[c].cell, theirs.cells[c].cell);
        EXPECT_EQ(mine.cells[c].perplexity(), theirs.cells[c].perplexity());
        EXPECT_EQ(mine.cells[c].series.size(), theirs.cells[c].series.size());
        EXPECT_EQ(mine.cells[c].kv_bytes, theirs.cells[c].kv_bytes);
        EXPECT_EQ(mine.cells[c].retained_mass, theirs.cells[c].retained_mass);
        EXPECT_GT(mine.cells[c].retained_mass, 0.2);
        EXPECT_EQ(mine.cells[c].recall_in_all().right, theirs.cells[c].recall_in_all().right);
      }
    }
  }
}

TEST_F(SweepKinds, ASummaryHasOnePointASegmentAndTheSamePerplexity) {
  sweep(evaluations(R"(, "segment": 64)"), "summary.db");
  sweep(evaluations(R"(, "segment": 64)", "series"), "series.db");
  const auto summary = read("summary.db").evaluations[1];
  const auto series = read("series.db").evaluations[1];
  EXPECT_EQ(summary.series_width, 64U);
  EXPECT_EQ(series.series_width, 16U);
  for (std::size_t c = 0; c < summary.cells.size(); ++c) {
    EXPECT_EQ(summary.cells[c].targets(), series.cells[c].targets());
    EXPECT_NEAR(summary.cells[c].perplexity(), series.cells[c].perplexity(), 1e-12);
  }
}

TEST_F(SweepKinds, TasksHaveTheAnswersOfEval) {
  sweep(tasks(R"(, "answer-tokens": 3)"), "run.db");
  const auto sweep = read("run.db");
  ASSERT_THAT(sweep.tasks, SizeIs(2));
  for (const std::string seed : {"1", "2"}) {
    ASSERT_EQ(run({"eval", "--model", test::a_model(), "--tasks", folder_ / "items-" + seed,
                   "--answer-tokens", "3", "--policy", "dense", "--policy", "random", "--budget",
                   "24", "-o", folder_ / "eval.db"})
                  .status,
              0);
    const std::int64_t number = std::stol(seed);
    const auto eval = reports::read_run(folder_ / "eval.db", number).value();
    const TaskResult& mine = sweep.tasks[static_cast<std::size_t>(number - 1)];
    EXPECT_EQ(mine.items, eval.tasks[0].items);
    ASSERT_THAT(mine.cells, SizeIs(2));
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(mine.cells[c].cell, eval.tasks[0].cells[c].cell);
      EXPECT_EQ(mine.cells[c].answers, eval.tasks[0].cells[c].answers);
      EXPECT_EQ(mine.cells[c].kv_bytes, eval.tasks[0].cells[c].kv_bytes);
    }
  }
}

TEST_F(SweepKinds, HaveTheSameTablesForAnyNumberOfThreadsAndShards) {
  for (const std::string& plan :
       {evaluations(R"(, "windows": [64, 0], "seeds": 3, "open-loop": true)"),
        tasks(R"(, "seeds": 4)")}) {
    const TemporaryFolder place;
    const auto sweep = [&](const std::string& name, const Words& more) {
      const Ran ran = run(test::with({"sweep", plan, "-o", place / name}, more));
      ASSERT_EQ(ran.status, 0) << ran.err;
    };
    sweep("1", {"--threads", "1"});
    sweep("5", {"--threads", "5"});
    for (const std::string part : {"1", "2", "3"}) sweep("part-" + part, {"--shard", part + "/3"});
    const Ran merged = run({"merge", place / "part-3", place / "part-1", place / "part-2",
                            place / "1", "-o", place / "merged"});
    EXPECT_EQ(merged.status, 0) << merged.err;
    const std::string one = table_dump(place / "1");
    EXPECT_EQ(table_dump(place / "5"), one);
    EXPECT_EQ(table_dump(place / "merged"), one);
    EXPECT_NE(table_dump(place / "part-1"), one);
  }
}

TEST_F(SweepKinds, AFileThatLostACellIsDamaged) {
  const std::string plan = tasks(R"(, "seeds": 4)");
  sweep(plan, "run.db");
  tamper("run.db", "DELETE FROM task_cells WHERE id = 1");
  const Ran ran = run({"sweep", plan, "-o", folder_ / "run.db"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("is damaged: its run is complete and lacks cells of the plan"));
}

TEST_F(SweepKinds, LoseNoCellWhenTheyAreKilled) {
  const std::string plan = evaluations(R"(, "seeds": 60, "windows": [0, 64])");
  sweep(plan, "whole.db", {"--threads", "2"});
  const auto cells_of = [&](const std::string& file) {
    std::size_t cells = 0;
    for (const auto& text : reports::read_run(file).value().evaluations) cells += text.cells.size();
    return cells;
  };
  const std::size_t all = cells_of(folder_ / "whole.db");
  ASSERT_GT(all, 500U);
  const std::string output = folder_ / "run.db";
  std::size_t kills = 0;
  std::size_t held = 0;
  std::size_t killed_at = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const Words words = {"sweep",  plan, "-o", output, "--threads", i % 2 == 0 ? "1" : "3",
                         "--quiet"};
    const std::size_t more = held == 0 ? test::empty_results_size() + 10'000 : 4096;
    const bool killed = test::kill_when_grown(output, words, more);
    const std::size_t now = cells_of(output);
    EXPECT_GE(now, held);
    held = now;
    if (!killed) break;
    ++kills;
    killed_at = now;
  }
  EXPECT_GE(kills, 2U);
  EXPECT_GT(killed_at, 0U);
  EXPECT_LT(killed_at, all);
  EXPECT_THAT(swept(plan, "run.db"),
              HasSubstr(" cells of the plan: " + std::to_string(all - held) + " were run"));
  EXPECT_EQ(dump("run.db"), dump("whole.db"));
}

TEST_F(SweepKinds, AreOtherSweepsIfATextOrTheModelChanges) {
  const std::string plan = evaluations("");
  sweep(plan, "run.db");
  EXPECT_THAT(swept(plan, "run.db"), HasSubstr(": 0 were run"));
  std::ofstream(folder_ / "text-1", std::ios::app) << " anna .\n";
  EXPECT_THAT(swept(plan, "run.db"), HasSubstr(": 5 were run, 10 were taken"));
  std::filesystem::copy(test::a_model(), folder_ / "model");
  const std::string copied =
      written(R"({"eval": {"model": ")" + (folder_ / "model") + R"(", "texts": [)" +
              listed({"text-0"}) + R"(], "policies": ["dense"]}})");
  sweep(copied, "run.db");
  EXPECT_THAT(swept(copied, "run.db"), HasSubstr(": 0 were run"));
  std::ofstream(folder_ / "model/config.json", std::ios::app) << "\n";
  EXPECT_THAT(swept(copied, "run.db"), HasSubstr(": 1 were run"));
}

TEST_F(SweepKinds, MergeNamesTheTextOrTheCellOfWhichResultsDiffer) {
  const std::string plan = evaluations("");
  sweep(plan, "a.db");
  sweep(plan, "b.db");
  tamper("b.db", "UPDATE eval_series SET nats = nats + 1e-12 WHERE cell = 7");
  const Ran cell = run({"merge", folder_ / "a.db", folder_ / "b.db", "-o", folder_ / "run.db"});
  EXPECT_EQ(cell.status, 2);
  EXPECT_THAT(cell.err, HasSubstr("has another result than the files before it of the cell 'h2o:"));
  EXPECT_THAT(cell.err, HasSubstr("with seed 1 on the text '" + (folder_ / "text-1")));
  tamper("b.db", "UPDATE evaluations SET tokens = tokens + 1 WHERE id = 1");
  EXPECT_THAT(run({"merge", folder_ / "a.db", folder_ / "b.db", "-o", folder_ / "run.db"}).err,
              HasSubstr("has another result than the files before it of the text '" +
                        (folder_ / "text-0")));
}

TEST_F(SweepKinds, AreReadByReportAndCompare) {
  sweep(evaluations(R"(, "seeds": 2)"), "eval.db");
  sweep(tasks(""), "tasks.db");
  for (const std::string name : {"eval.db", "tasks.db"}) {
    const Ran report = run({"report", folder_ / name, "-o", folder_ / ("of-" + name)});
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_EQ(run({"compare", folder_ / name, folder_ / name}).status, 0);
  }
  EXPECT_THAT(run({"compare", folder_ / "eval.db", "--measure", "loss"}).out,
              HasSubstr(", 3 texts"));
}

TEST_F(SweepKinds, DryRunSaysWhatTheyNeed) {
  EXPECT_THAT(run({"sweep", evaluations(R"(, "windows": [0, 64])"), "--dry-run"}).out,
              HasSubstr("Cells:   30, on 3 texts\nTime:    about 0:0"));
  EXPECT_THAT(run({"sweep", tasks(""), "--dry-run"}).out,
              HasSubstr("Cells:   4, on 2 task files\n"));
}

}  // namespace
}  // namespace kv

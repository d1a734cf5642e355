// Sweeps of timings: rows that are timed once each, alone, and never again.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "kvcheck/cli/sweep/run_blocks.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/tables/timing_table.h"
#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using test::Words;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Two policies after 8 and 16 tokens, three times: 12 rows.
class SweepSpeed : public ::testing::Test {
 protected:
  SweepSpeed() { write_plan(""); }

  void write_plan(const std::string& more) {
    std::ofstream(folder_ / "plan.json")
        << R"({"speed": {"model": ")" << model_
        << R"(", "lengths": [8, 16], "tokens": 2, "runs": 3, "policies": ["window", "h2o"],
            "budgets": [4])"
        << more << "}}";
  }

  [[nodiscard]] Ran sweep(const std::string& name, const Words& more = {}) const {
    Ran ran = run(test::with({"sweep", folder_ / "plan.json", "-o", folder_ / name}, more));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran;
  }

  [[nodiscard]] TimingResult timing(const std::string& name) const {
    const reports::StoredRun stored = reports::read_run(folder_ / name).value();
    EXPECT_EQ(stored.timings.size(), 1U);
    return stored.timings.empty() ? TimingResult() : stored.timings.front();
  }

  // The seconds of a token by repetition, length, seed and policy.
  [[nodiscard]] std::map<std::string, double> times(const std::string& name) const {
    std::map<std::string, double> times;
    for (const TimedCell& cell : timing(name).cells) {
      const std::string key = std::to_string(cell.repetition) + " " + std::to_string(cell.length) +
                              " " + std::to_string(cell.cell.seed) + " " +
                              std::string(cell.cell.spec.policy->name);
      EXPECT_TRUE(times.emplace(key, cell.token_s).second) << key;
    }
    return times;
  }

  void tamper(const std::string& name, const char* sql) const {
    auto database = reports::Database::open(folder_ / name).value();
    ASSERT_TRUE(database.execute(sql));
  }

  test::TemporaryFolder folder_;
  std::string model_ = test::small_llama_that_reads("sweep-speed-model");
};

TEST_F(SweepSpeed, HasTheRowsOfSpeed) {
  EXPECT_THAT(sweep("run.db").out, HasSubstr("holds 12 of 12 cells of the plan: 12 were run"));
  const TimingResult timed = timing("run.db");
  EXPECT_EQ(timed.model, model_);
  EXPECT_EQ(timed.storage, "f32");
  EXPECT_EQ(timed.tokens, 2U);
  EXPECT_EQ(timed.threads, 1U);
  EXPECT_GT(timed.weight_bytes, 0U);
  EXPECT_EQ(times("run.db").size(), 12U);
  EXPECT_TRUE(times("run.db").contains("3 16 1 h2o"));
  for (const TimedCell& cell : timed.cells) {
    EXPECT_EQ(cell.cell.spec.chunk, 64U);
    EXPECT_GT(cell.attention_s, 0);
    EXPECT_GT(cell.mean_token_s, 0);
    EXPECT_NE(cell.kernels, "");
  }
  // As speed has them: by policy, then length.
  const reports::Table table = reports::timing_table(timed);
  std::vector<std::string> lengths;
  for (const auto& row : table.rows) lengths.push_back(row[2].text);
  EXPECT_THAT(lengths, ElementsAre("8", "16", "8", "16"));
  const Ran compared =
      run({"compare", folder_ / "run.db", "--measure", "token_s", "--length", "8"});
  EXPECT_THAT(compared.out, HasSubstr("seconds, 3 runs"));
  EXPECT_EQ(run({"report", folder_ / "run.db", "-o", folder_ / "report"}).status, 0);
}

TEST_F(SweepSpeed, TimesNoRowAgain) {
  static_cast<void>(sweep("run.db"));
  const std::string before = test::table_dump(folder_ / "run.db");
  EXPECT_THAT(sweep("run.db").out, HasSubstr(": 0 were run, 0 were taken"));
  EXPECT_EQ(test::table_dump(folder_ / "run.db"), before);
  std::map<std::string, double> old = times("run.db");
  tamper(
      "run.db",
      "DELETE FROM timed_cells WHERE ordinal IN (5, 6, 7);"
      "DELETE FROM timed_repetitions WHERE ordinal IN (5, 6, 7);"
      "DELETE FROM timed_details WHERE ordinal IN (5, 6, 7);"
      "UPDATE timed_cells SET token_s = 1e-3 * (1 + ordinal); UPDATE runs SET status = 'running'");
  const std::map<std::string, double> held = times("run.db");
  ASSERT_EQ(held.size(), 9U);
  EXPECT_THAT(sweep("run.db").out, HasSubstr(": 3 were run, 0 were taken from earlier runs, 9"));
  const std::map<std::string, double> now = times("run.db");
  ASSERT_EQ(now.size(), 12U);
  for (const auto& [row, time] : held) EXPECT_EQ(now.at(row), time) << row;
  // Another plan times everything, in a run of its own.
  write_plan(R"(, "seeds": [2])");
  EXPECT_THAT(sweep("run.db").out, HasSubstr(": 12 were run"));
  EXPECT_EQ(reports::list_runs(folder_ / "run.db")->size(), 2U);
}

TEST_F(SweepSpeed, LosesNoFinishedRowWhenItIsKilled) {
  std::ofstream(folder_ / "plan.json")
      << R"({"speed": {"model": ")" << model_
      << R"(", "lengths": [8, 16], "tokens": 2, "runs": 6, "policies": ["random"], "budgets": [4],
          "seeds": 40}})";
  const std::string output = folder_ / "run.db";
  const Words words = {"sweep", folder_ / "plan.json", "-o", output, "--quiet"};
  // A block has 40 rows.
  ASSERT_TRUE(test::kill_when_grown(output, words, test::empty_results_size() + 18'000));
  const std::map<std::string, double> held = times("run.db");
  EXPECT_GT(held.size(), 0U);
  EXPECT_EQ(held.size() % 40, 0U);
  EXPECT_THAT(sweep("run.db").out,
              HasSubstr(": " + std::to_string(480 - held.size()) + " were run"));
  const std::map<std::string, double> all = times("run.db");
  EXPECT_EQ(all.size(), 480U);
  for (const auto& [row, time] : held) EXPECT_EQ(all.at(row), time) << row;
}

TEST_F(SweepSpeed, KeepsAllPoliciesAtOneLengthOfARunInOneShard) {
  for (const std::string part : {"1", "2"}) {
    static_cast<void>(sweep("part-" + part, {"--shard", part + "/2"}));
  }
  const std::map<std::string, double> first = times("part-1");
  const std::map<std::string, double> second = times("part-2");
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(second.size(), 6U);
  for (const auto& [row, time] : first) {
    const bool window = row.ends_with("window");
    const std::string place = row.substr(0, row.rfind(' '));
    EXPECT_TRUE(first.contains(place + (window ? " h2o" : " window"))) << row;
  }
  const Ran merged = run({"merge", folder_ / "part-2", folder_ / "part-1", "-o", folder_ / "all"});
  EXPECT_EQ(merged.status, 0) << merged.err;
  std::map<std::string, double> both = first;
  both.insert(second.begin(), second.end());
  EXPECT_EQ(times("all"), both);
  EXPECT_THAT(sweep("all").out, HasSubstr(": 0 were run"));
  // Of a row that was timed twice the first time is kept.
  static_cast<void>(sweep("whole"));
  const Ran again = run({"merge", folder_ / "whole", folder_ / "all", "-o", folder_ / "joined"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(" were there, whose times were kept"));
  EXPECT_EQ(times("joined"), times("whole"));
}

TEST_F(SweepSpeed, RunsItsBlocksInOrderAndOneAtATime) {
  const auto plan = cli::plan_sweep(folder_ / "plan.json");
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<cli::SweepBlock> blocks = cli::make_blocks(*plan);
  ASSERT_EQ(blocks.size(), 6U);
  const cli::ThreadShare share = cli::share_threads(*plan, 8, blocks.size());
  EXPECT_EQ(share.blocks, 1U);
  std::vector<std::string> order;
  const auto done = [&](const cli::FinishedBlock& finished) {
    const auto& timed = std::get<TimingResult>(finished.result);
    EXPECT_GT(finished.seconds, 0);
    EXPECT_EQ(timed.cells.size(), finished.block.cells.size());
    order.push_back(std::to_string(timed.cells[0].repetition) + " " +
                    std::to_string(timed.cells[1].length));
    EXPECT_EQ(timed.cells[0].cell.spec.policy->name, "window");
    return Result<void>();
  };
  ASSERT_TRUE(cli::run_blocks(*plan, blocks, 8, {.done = done, .progress = {}}));
  EXPECT_THAT(order, ElementsAre("1 8", "1 16", "2 8", "2 16", "3 8", "3 16"));
}

TEST_F(SweepSpeed, SaysWhatItNeedsOnThePlansThreads) {
  write_plan(R"(, "threads": 2)");
  const std::string words =
      run({"sweep", folder_ / "plan.json", "--dry-run", "--threads", "7"}).out;
  EXPECT_THAT(words, HasSubstr("Cells:   12, on 2 lengths\nTime:    about 0:00:0"));
  EXPECT_THAT(words, HasSubstr("on 2 threads of an idle machine"));
  static_cast<void>(sweep("run.db", {"--threads", "7"}));
  EXPECT_EQ(timing("run.db").threads, 2U);
}

TEST_F(SweepSpeed, SaysWhatIsWrongWithThePlan) {
  const auto error_of = [&](const std::string& section) {
    std::ofstream(folder_ / "plan.json") << "{" << section << "}";
    const Ran ran = run({"sweep", folder_ / "plan.json", "-o", folder_ / "run.db"});
    EXPECT_EQ(ran.status, 2) << section;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_FALSE(std::ifstream(folder_ / "run.db").good());
    return ran.err;
  };
  const std::string model = R"("speed": {"model": ")" + model_ + R"(", "policies": ["window"], )";
  const std::string whole = model + R"("budgets": [4], "lengths": [8])";
  EXPECT_THAT(error_of(model + R"("budgets": [4]})"),
              HasSubstr("plan.speed: the field \"lengths\" is missing"));
  EXPECT_THAT(error_of(model + R"("lengths": [8, 8]})"), HasSubstr("lengths[1]: 8 is given twice"));
  EXPECT_THAT(error_of(whole + R"(, "tokenizer": "t"})"), HasSubstr("unknown field 'tokenizer'"));
  EXPECT_THAT(error_of(whole + R"(, "runs": 0})"), HasSubstr("plan.speed.runs"));
  EXPECT_THAT(error_of(whole + R"(, "weights": "int7"})"), HasSubstr("plan.speed.model: "));
  EXPECT_THAT(error_of(whole + R"(, "keys": "rotated-f16"})"),
              HasSubstr("plan.speed.policies: window"));
  EXPECT_THAT(error_of(whole + R"(}, "detail": "heads")"),
              HasSubstr("plan.detail: timings have no numbers of heads"));
  EXPECT_THAT(error_of(whole + R"(}, "eval": {})"),
              HasSubstr("\"tasks\" and \"speed\", found two"));
  EXPECT_THAT(error_of(R"("speed": {"model": "none", "policies": ["dense"], "lengths": [8]})"),
              HasSubstr("plan.speed.model: there is no model at 'none'"));
}

}  // namespace
}  // namespace kv

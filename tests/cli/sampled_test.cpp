// Traces of some queries from the command line: recorded, cut from others, replayed, stored, shown.
#include <filesystem>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::cli {
namespace {

using namespace testing;
using test::Ran;
using test::run;

const std::string bundled =
    std::string(KVCHECK_SOURCE_DIR) + "/traces/data/tinystories-2m.qkv.safetensors";

void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr(words));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

class SampledCommands : public Test {
 protected:
  SampledCommands()
      : model_(test::small_llama_that_reads("sampled-command-model")),
        text_(test::temporary_file("sampled.txt", words())) {}

  static std::string words() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "abc abcab: one two three four, abab. ";
    return text;
  }

  [[nodiscard]] std::vector<std::string> record(const std::string& to) const {
    return {"record", "--model", model_, "--text", text_, "--tokens", "300", "-o", to};
  }

  static Ran with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  test::TemporaryFolder folder_;
  std::string model_;
  std::string text_;
};

TEST_F(SampledCommands, RecordsReplaysAndTells) {
  const std::string path = folder_ / "some.safetensors";
  const Ran recorded = with(record(path), {"--queries", "10/100,0-9", "--seed", "4", "--resume"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(folder_.names(), ElementsAre("some.safetensors"));
  EXPECT_THAT(run({"trace", "info", path}).out,
              HasSubstr("39 of them are recorded, selected as 10/100,0-9"));
  EXPECT_THAT(run({"trace", "info", path, "--json"}).out,
              HasSubstr(R"("queries":39,"query_design":"10/100,0-9")"));
  EXPECT_EQ(run({"trace", "verify", path}).status, 0);
  const Ran replayed = run({"replay", path, "--policy", "window", "--policy", "h2o", "--budget",
                            "32", "--quiet", "-o", folder_ / "run.db"});
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("39 of 300 queries are recorded (10/100,0-9)"));
  EXPECT_THAT(replayed.out, HasSubstr("no interval covers that: h2o."));
  const Ran reported = run({"report", folder_ / "run.db", "-o", folder_ / "report"});
  EXPECT_EQ(reported.status, 0) << reported.err;
  const std::string page = test::read_text(folder_ / "report/index.html");
  EXPECT_THAT(page, HasSubstr("39 of the queries are recorded"));
  EXPECT_THAT(page, HasSubstr("no interval covers that: h2o."));
  // What the results file gives back is what was computed.
  const std::string stored = test::read_text(folder_ / "report/trace-1/cells.jsonl");
  const Ran again = run({"replay", path, "--policy", "window", "--policy", "h2o", "--budget", "32",
                         "--quiet", "--json", "-"});
  EXPECT_EQ(stored, again.out);
}

TEST_F(SampledCommands, CutsASampleFromAWholeTrace) {
  const std::string path = folder_ / "cut.safetensors";
  ASSERT_EQ(run({"trace", "slice", bundled, "-o", path, "--queries", "16/128"}).status, 0);
  const Ran csv =
      run({"replay", path, "--policy", "window:recent=64", "--quiet", "--csv", "-", "--per-head"});
  EXPECT_THAT(csv.out, HasSubstr(",retained_mass_after_half_width,"));
  expect_refused(run({"trace", "slice", path, "-o", path, "--queries", "1/128"}),
                 "records 64 queries of its own");
  expect_refused(
      run({"replay", path, "--policy", "window", "--budget", "64", "--oracle", "--quiet"}),
      "bounds need the attention of all");
}

TEST_F(SampledCommands, RefusesQueriesThatTheTextDoesNotHave) {
  const std::string path = folder_ / "none.safetensors";
  expect_refused(with(record(path), {"--queries", "0/100"}), "--queries: the number of queries");
  expect_refused(with(record(path), {"--queries", "0-300"}), "and the text has 300 tokens");
  expect_refused(with(record(path), {"--queries", "64/1000"}), "the block of the queries is 1000");
  expect_refused(with(record(path), {"--queries", "some"}), "is not understood; expected K/N");
  expect_refused(with(record(path), {"--kind", "attention", "--resume"}), "cannot be resumed");
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(SampledCommands, SaysWhatTheTextLacks) {
  const Ran ran = run({"record", "--model", model_, "--text", text_, "--tokens", "999999",
                       "--split", "<none>", "-o", folder_ / "t.safetensors"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("fewer than --tokens 999999"));
  EXPECT_THAT(ran.err, HasSubstr("the text has no '<none>', so --split cuts nothing"));
}

// Killed at some moment, then resumed: the bytes of a run that was not.
TEST_F(SampledCommands, AKilledRecordingIsResumed) {
  const std::string whole = folder_ / "whole.safetensors";
  ASSERT_EQ(with(record(whole), {"--queries", "10/100", "--quiet"}).status, 0);
  const std::string command = "\"$K\" record --model '" + model_ + "' --text '" + text_ +
                              "' --tokens 300 --queries 10/100 --resume --quiet -o '" +
                              (folder_ / "cut.safetensors") + "'";
  for (const char* seconds : {"0.01", "0.02", "0.04", "0.08"}) {
    test::run_shell("timeout -s KILL " + std::string(seconds) + " " + command);
  }
  const Ran last = test::run_shell(command);
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(test::read_text(folder_ / "cut.safetensors"), test::read_text(whole));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cut.safetensors.unfinished"));
}

}  // namespace
}  // namespace kv::cli

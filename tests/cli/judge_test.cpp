#include "kvcheck/cli/check/judge.h"

#include <boost/json.hpp>
#include <fstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::cli {
namespace {

using test::run;
using testing::HasSubstr;
using testing::Not;

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

const std::string right =
    R"({"kvcheck_history":1,"name":"mine","contract":{"sinks":1,"recent":1,"budget":2,)"
    R"("visibility":"causal"},"setup":{}})"
    "\n"
    R"({"do":"feed","tokens":2,"units":[{"visible":"causal"}]})"
    "\n"
    R"({"do":"feed","tokens":1,"units":[{"evicted":[1],"visible":"causal"}]})"
    "\n";

const std::string narrow =
    right.substr(0, right.find('\n') + 1) +
    R"({"do":"feed","tokens":1,"units":[{"visible":"causal"}]})"
    "\n"
    R"({"do":"feed","tokens":1,"units":[{"visible":"causal"}]})"
    "\n"
    R"({"do":"feed","tokens":1,"units":[{"evicted":[1],"visible":"causal"}]})"
    "\n";

TEST(JudgeCommand, JudgesWhatCheckRecords) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "cases.jsonl";
  const auto checked = run(
      {"check", "streaming:sinks=2,recent=6,budget=8", "--filter", "resident.*", "--record", file});
  ASSERT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("4 laws hold, 0 broken"));
  const auto judged = run({"judge", file, "--filter", "resident.*", "--filter", "reference.model"});
  EXPECT_EQ(judged.status, 0) << judged.err << judged.out;
  EXPECT_THAT(judged.out, HasSubstr("5 laws hold, 0 broken"));
  EXPECT_THAT(judged.out, HasSubstr("300 recorded runs"));
  EXPECT_THAT(judged.out, Not(HasSubstr("level")));
}

TEST(JudgeCommand, ReadsWhatThePythonExampleRecords) {
  const test::TemporaryFolder folder;
  const std::string program = "PYTHONPATH='" KVCHECK_SOURCE_DIR
                              "/python' python3 '" KVCHECK_SOURCE_DIR
                              "/examples/python/record_run.py' '" +
                              folder / "run.jsonl" + "'";
  const auto held =
      test::run_shell(program + " && $K judge --strict '" + folder / "run.jsonl" + "'");
  EXPECT_EQ(held.status, 0) << held.out << held.err;
  EXPECT_THAT(held.out, HasSubstr("0 broken, 0 not run"));
  const auto broken =
      test::run_shell(program + " --broken && $K judge '" + folder / "run.jsonl" + "'");
  EXPECT_EQ(broken.status, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("BROKEN  visible.self"));
  EXPECT_THAT(broken.out, HasSubstr("run.jsonl, line "));
}

TEST(JudgeCommand, EndsWithTheStatusOfTheVerdict) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  write(file, right);
  EXPECT_EQ(run({"judge", file, "--no-strict"}).status, 0);
  EXPECT_EQ(run({"judge", file, "--declare", "sinks=2"}).status, 1);
  EXPECT_EQ(run({"judge", file, "--filter", "chance.*"}).status, 2);
  write(file, right + "{}\n");
  const auto wrong = run({"judge", file});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("run.jsonl, line 4: call: the field \"do\" is missing"));
  // Token by token no chunk is wider than the window.
  write(file, narrow);
  const auto unseen = run({"judge", file, "--strict"});
  EXPECT_EQ(unseen.status, 3) << unseen.out;
  EXPECT_THAT(unseen.out, HasSubstr("no run showed a chunk wider than the window"));
  EXPECT_EQ(run({"judge", file, "--no-strict"}).status, 0);
  EXPECT_EQ(run({"judge", folder / "none.jsonl"}).status, 2);
}

TEST(JudgeCommand, ReadsItsOptions) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  write(file, right);
  EXPECT_THAT(run({"judge", file, "--declare", "sinks"}).err, HasSubstr("expected FIELD=VALUE"));
  EXPECT_THAT(run({"judge", file, "--declare", "sink=1"}).err, HasSubstr("unknown field 'sink'"));
  EXPECT_THAT(run({"judge", file, "--memory", "some"}).err, HasSubstr("--memory"));
  EXPECT_THAT(run({"judge", file, "--memory", "64", "--all"}).out, HasSubstr("give it more"));
  EXPECT_THAT(run({"judge", file, "--spec", "streamin"}).err, HasSubstr("streaming"));
  const auto like = run(
      {"judge", file, "--spec", "streaming:sinks=1,recent=1,budget=2;visibility=causal", "--all"});
  EXPECT_THAT(like.out, HasSubstr("reference.model")) << like.err;
  EXPECT_EQ(like.status, 0) << like.err << like.out;
  ASSERT_EQ(run({"judge", file, "--json", folder / "r.json", "--junit", folder / "r.xml",
                 "--declare", "sinks=2"})
                .status,
            1);
  const auto report = boost::json::parse(test::read_text(folder / "r.json")).as_object();
  EXPECT_FALSE(report.contains("level"));
  EXPECT_THAT(test::read_text(folder / "r.json"), HasSubstr("run.jsonl, line 3\""));
  EXPECT_THAT(test::read_text(folder / "r.xml"), HasSubstr("recorded at: "));
}

}  // namespace
}  // namespace kv::cli

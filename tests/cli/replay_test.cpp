#include "kvcheck/cli/replay/replay.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <sstream>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::cli {
namespace {

using test::Ran;
using test::read_text;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class ReplayCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_replay()) GTEST_SKIP() << "policies or trace reading are not in this build";
    test::write_even_attention(trace_, 2, 32);
  }

  // kvcheck replay TRACE and `words`.
  Ran replay_with(std::vector<std::string> arguments, bool terminal = false) {
    arguments.insert(arguments.begin(), {"replay", trace_});
    return test::run(arguments, terminal);
  }

  test::TemporaryFolder folder_;
  std::string trace_ = folder_ / "even.npy";
};

std::vector<boost::json::object> json_lines(const std::string& text) {
  std::vector<boost::json::object> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(boost::json::parse(line).as_object());
  }
  return lines;
}

std::string text_of(const boost::json::object& line, std::string_view field) {
  return std::string(line.at(field).as_string());
}

TEST_F(ReplayCommand, PrintsATableThatSaysWhatItMeasured) {
  const Ran ran = replay_with({"--policy", "dense", "--policy", "window", "--budget", "8"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const std::string head = ran.out.substr(0, ran.out.find('\n'));
  EXPECT_THAT(head, HasSubstr("even.npy"));
  EXPECT_THAT(head, HasSubstr("32 tokens"));
  EXPECT_THAT(head, HasSubstr("open loop"));
  EXPECT_THAT(ran.out, HasSubstr("dense"));
  EXPECT_THAT(ran.out, HasSubstr("window"));
}

TEST_F(ReplayCommand, SaysWhetherItsAttentionWasRecordedOrGenerated) {
  EXPECT_THAT(replay_with({"--policy", "dense"}).out, HasSubstr("recorded with nothing evicted"));
  EXPECT_THAT(test::run({"replay", "synthetic:uniform:tokens=16", "--policy", "dense"}).out,
              HasSubstr("generated with nothing evicted"));
}

TEST_F(ReplayCommand, PutsNothingButJsonOnStandardOutputWhenAsked) {
  const Ran ran =
      replay_with({"--policy", "all", "--budget", "8,16", "--seeds", "3", "--json", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::map<std::string, int> cells;
  for (const auto& line : json_lines(ran.out)) {
    if (text_of(line, "type") != "cell") continue;
    EXPECT_EQ(text_of(line, "loop"), "open");
    ++cells[text_of(line, "policy")];
  }
  EXPECT_EQ(cells["dense"], 1);
  EXPECT_EQ(cells["window"], 2);
  EXPECT_EQ(cells["reservoir"], 6);
}

TEST_F(ReplayCommand, MeasuresWhatAWindowKeepsOfEvenAttention) {
  const Ran ran = replay_with({"--policy", "window", "--budget", "8", "--json", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  // Attend-then-trim with chunks of one: query t sees its own key and the 8 before it, each with
  // 1/(t+1) of the mass.
  double expected = 0;
  for (int t = 0; t < 32; ++t) expected += std::min(1.0, 9.0 / (t + 1)) / 32;
  const auto lines = json_lines(ran.out);
  ASSERT_FALSE(lines.empty());
  EXPECT_NEAR(lines[0].at("retained_mass").to_number<double>(), expected, 1e-5);
}

// Of even attention every full cache keeps the same, so a window has all that can be had.
TEST_F(ReplayCommand, SaysWhichShareOfTheOptimumAPolicyKeeps) {
  const Ran table = replay_with({"--policy", "window", "--budget", "8", "--oracle"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("of optimum"));
  EXPECT_THAT(table.out, HasSubstr("1.0000"));
  const Ran ran = replay_with({"--policy", "window", "--budget", "8", "--oracle", "--json", "-"});
  const auto line = json_lines(ran.out).front();
  EXPECT_NEAR(line.at("optimum_share").to_number<double>(), 1, 1e-6);
  EXPECT_NEAR(line.at("optimum").to_number<double>(), line.at("retained_mass").as_double(), 1e-6);
  const Ran longer = replay_with(
      {"--policy", "window", "--budget", "8", "--oracle", "--oracle-tokens", "31", "--json", "-"});
  EXPECT_TRUE(json_lines(longer.out).front().at("optimum").is_null());
  EXPECT_FALSE(json_lines(longer.out).front().at("per_step_bound").is_null());
  const Ran without = replay_with({"--policy", "window", "--budget", "8", "--json", "-"});
  EXPECT_TRUE(json_lines(without.out).front().at("per_step_bound").is_null());
  const Ran all = replay_with({"--budget", "8", "--oracle"});
  EXPECT_THAT(all.out, HasSubstr("\nunit=kv-head;timing=attend-then-trim       8   "));
  EXPECT_THAT(all.out, HasSubstr("\nh2o "));
  const Ran refused = replay_with({"--policy", "window", "--oracle-tokens", "31"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--oracle-tokens is given without --oracle"));
}

TEST_F(ReplayCommand, AddsALinePerHeadWhenAsked) {
  const Ran ran = replay_with({"--policy", "window", "--budget", "8", "--json", "-", "--per-head"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::vector<std::int64_t> heads;
  for (const auto& line : json_lines(ran.out)) {
    if (text_of(line, "type") == "head") heads.push_back(line.at("head").to_number<std::int64_t>());
  }
  EXPECT_THAT(heads, ElementsAre(0, 1));
}

TEST_F(ReplayCommand, WritesTheSameBytesWithAnyNumberOfThreads) {
  std::vector<std::string> arguments = {"--policy", "all", "--budget", "8,16", "--seeds", "2"};
  const auto with = [&](const std::string& threads) {
    std::vector<std::string> all = arguments;
    const std::string file = folder_ / threads;
    all.insert(all.end(), {"--threads", threads, "--json", file + ".json", "--csv", file + ".csv"});
    EXPECT_EQ(replay_with(all).status, 0);
    return std::pair(read_text(file + ".json"), read_text(file + ".csv"));
  };
  const auto one = with("1");
  EXPECT_FALSE(one.first.empty());
  EXPECT_FALSE(one.second.empty());
  EXPECT_EQ(one, with("2"));
  EXPECT_EQ(one, with("7"));
}

TEST_F(ReplayCommand, KeepsACompleteRunAndSaysWhatIsNext) {
  const std::string results = folder_ / "run.db";
  const Ran ran = replay_with(
      {"--policy", "window", "--budget", "8", "--threads", "2", "--quiet", "-o", results});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("kvcheck report")));
  const reports::StoredRun run = reports::read_run(results).value();
  EXPECT_TRUE(run.summary.complete);
  EXPECT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(run.summary.command, "kvcheck replay " + trace_ + " --policy window --budget 8");

  const Ran loud = replay_with({"--policy", "window", "--budget", "8", "-o", folder_ / "b.db"});
  EXPECT_THAT(loud.out, EndsWith("Next: kvcheck report " + (folder_ / "b.db") + " -o report\n"));
}

TEST_F(ReplayCommand, KeepsRemarksOffStandardOutputWhenThatIsTheData) {
  const Ran ran =
      replay_with({"--policy", "window", "--budget", "8", "--csv", "-", "-o", folder_ / "run.db"});
  EXPECT_THAT(ran.out, Not(HasSubstr("Next:")));
  EXPECT_THAT(ran.err, HasSubstr("Next: kvcheck report"));
}

TEST_F(ReplayCommand, ReplaysEveryTrace) {
  const std::string other = folder_ / "other.npy";
  test::write_even_attention(other, 1, 48);
  const std::vector<std::string> arguments = {other, "--policy", "window", "--budget", "8"};
  std::vector<std::string> json = arguments;
  json.insert(json.end(), {"--json", "-"});
  std::vector<std::string> names;
  for (const auto& line : json_lines(replay_with(json).out))
    names.push_back(text_of(line, "trace"));
  EXPECT_THAT(names, ElementsAre("even.npy", "other.npy"));

  std::vector<std::string> csv = arguments;
  csv.insert(csv.end(), {"--csv", "-"});
  const std::string rows = replay_with(csv).out;
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3) << "one header line and two rows:\n" << rows;
  EXPECT_EQ(rows.find("trace,"), rows.rfind("trace,")) << rows;
}

TEST_F(ReplayCommand, ShowsProgressOnATerminalOnlyAndCleansItUp) {
  const std::vector<std::string> arguments = {"--policy", "window", "--budget", "8"};
  EXPECT_EQ(replay_with(arguments).err, "");
  const std::string err = replay_with(arguments, true).err;
  EXPECT_TRUE(err.empty() || err.ends_with("\r\x1b[K")) << err;
}

struct BadArguments {
  std::vector<std::string> arguments;  // after the trace
  std::string said;
};

TEST_F(ReplayCommand, RefusesBadWordsInOneSentenceAndLeavesNothing) {
  const std::string missing = folder_ / "no" + std::string("/x.json");
  const std::vector<BadArguments> cases = {
      {{}, "no --policy is given"},
      {{"--policy"}, "--policy needs a value"},
      {{"--policy", "windw", "--budget", "8"}, "'window'"},
      {{"--policy", "@nonsense", "--budget", "8"}, "nonsense"},
      {{"--policy", "window:speed=3", "--budget", "8"}, "speed"},
      {{"--policy", "window:recent=4,recent=4"}, "recent"},
      {{"--policy", "window:recent=-4"}, "-4"},
      {{"--policy", "window:recent=99999999999999999999"}, "99999999999999999999"},
      {{"--policy", "window", "--budget", "0"}, "--budget is '0'"},
      {{"--policy", "window", "--budget", "-8"}, "--budget is '-8'"},
      {{"--policy", "window", "--budget", "8,"}, "--budget is ''"},
      {{"--policy", "window", "--budget", "8,8"}, "--budget names 8 twice"},
      {{"--policy", "window", "--budget", "4294967296"}, "--budget is '4294967296'"},
      {{"--policy", "window", "--budget", "33"}, "budget 33 is above the 32 tokens of 'even.npy'"},
      {{"--policy", "reservoir:sinks=9", "--budget", "8"}, "9"},
      {{"--policy", "window", "--policy", "window", "--budget", "8"}, "given twice"},
      {{"--policy", "window", "--budget", "8", "--budget", "9"},
       "--budget is given more than once"},
      {{"--policy", "window", "--budget", "8", "--seed", "x"}, "--seed is 'x'"},
      {{"--policy", "window", "--budget", "8", "--seeds", "0"}, "--seeds is '0'"},
      {{"--policy", "window", "--budget", "8", "--seeds", "2", "--seed", "2"},
       "--seed and --seeds"},
      {{"--policy", "window", "--budget", "8", "--chunk", "0"}, "--chunk is '0'"},
      {{"--policy", "window", "--budget", "8", "--top-k", "-1"}, "--top-k is '-1'"},
      {{"--policy", "window", "--budget", "8", "--threads", "0"}, "--threads is '0'"},
      {{"--policy", "window", "--budget", "8", "--threads", "1025"}, "--threads is '1025'"},
      {{"--policy", "window", "--budget", "8", "--jsn", "-"}, "did you mean '--json'?"},
      {{"--policy", "window", "--budget", "8", "--json", ""}, "--json needs the name of a file"},
      {{"--policy", "window", "--budget", "8", "--json", "-", "--csv", "-"}, "both name '-'"},
      {{"--policy", "window", "--budget", "8", "-o", "-"}, "use --json -"},
      {{"--policy", "window", "--budget", "8", "--json", testing::TempDir()}, "it is a directory"},
      {{"--policy", "window", "--budget", "8", "-o", testing::TempDir()}, "directory"},
      {{"--policy", "window", "--budget", "8", "--json", missing}, "No such file or directory"},
      {{"--policy", "window", "--budget", "8", "-o", missing}, missing},
      {{"--policy", "window", "--budget", "8", "--csv", trace_}, "would overwrite the input"},
      {{"--policy", "window", "--budget", "8", "-o", trace_}, "would overwrite the input"},
      {{trace_, "--policy", "window", "--budget", "8"}, "is given twice"},
      {{folder_ / "none.npy", "--policy", "window", "--budget", "8"}, "none.npy"},
      {{testing::TempDir(), "--policy", "window", "--budget", "8"}, "directory"},
  };
  const std::string before = read_text(trace_);
  for (const BadArguments& bad : cases) {
    const Ran ran = replay_with(bad.arguments);
    const std::string arguments = testing::PrintToString(bad.arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_THAT(ran.err, HasSubstr(bad.said)) << arguments;
    EXPECT_THAT(ran.err, testing::StartsWith("kvcheck replay: ")) << arguments;
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    EXPECT_THAT(folder_.names(), ElementsAre("even.npy")) << arguments;
  }
  EXPECT_EQ(read_text(trace_), before);
}

TEST_F(ReplayCommand, SeesThatTwoSpellingsAreOneOutput) {
  for (const auto& [json, csv] : {std::pair<std::string, std::string>{"new-x", "./new-x"},
                                  {folder_ / "x", folder_ / "./x"}}) {
    const Ran ran =
        replay_with({"--policy", "window", "--budget", "8", "--json", json, "--csv", csv});
    EXPECT_EQ(ran.status, 2) << json;
    EXPECT_THAT(ran.err, HasSubstr("--json and --csv both name")) << json;
  }
  EXPECT_THAT(folder_.names(), ElementsAre("even.npy"));
}

TEST_F(ReplayCommand, LeavesAnOldOutputAloneWhenTheNewRunIsRefused) {
  const std::string json = folder_ / "old.json";
  ASSERT_EQ(replay_with({"--policy", "window", "--budget", "8", "--json", json}).status, 0);
  const std::string before = read_text(json);
  EXPECT_EQ(replay_with({"--policy", "window", "--budget", "99", "--json", json}).status, 2);
  EXPECT_EQ(read_text(json), before);
}

// A name or a command from a file may hold what a terminal obeys, and newlines that forge lines.
TEST_F(ReplayCommand, SendsNoEscapesToTheTerminal) {
  const std::string trace = folder_ / "\x1b]0;title\x07\nrun 2.npy";
  test::write_even_attention(trace, 1, 4);
  const Ran ran =
      test::run({"replay", trace, "--policy", "window", "--budget", "3", "-o", folder_ / "run.db"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const Ran listed = test::run({"report", folder_ / "run.db", "--list"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  for (const std::string& text : {ran.out, ran.err, listed.out}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("\nrun 2"))) << text;
  }
  EXPECT_THAT(ran.out, HasSubstr("\\x1b]0;title\\x07\\x0arun 2"));
  EXPECT_THAT(listed.out, HasSubstr("\\x1b]0;title"));
}

}  // namespace
}  // namespace kv::cli

#include "kvcheck/cli/judge/judge.h"

#include <boost/json.hpp>
#include <fstream>

#include "kvcheck/base/text/text.h"
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

TEST(JudgeCommand, ReadsPipes) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  write(file, right);
  const std::string before = "cat '" + file + "' | $K judge --no-strict --declare sinks=2 ";
  for (const std::string operand : {"-", "/dev/stdin"}) {
    const auto broken = test::run_shell(before + operand);
    EXPECT_EQ(broken.status, 1) << broken.err;
    EXPECT_THAT(broken.out,
                HasSubstr(operand == "-" ? "standard input, line " : "/dev/stdin, line "));
  }
  EXPECT_EQ(test::run_shell("$K judge --no-strict - <'" + file + "'").status, 0);
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

// A run that keeps the first token and a window, one token a call, as the lines of a file. What
// `hides` names is not seen at that call.
std::string window_run(int tokens, int budget, std::pair<int, int> hides = {-1, -1}) {
  std::string lines = R"({"kvcheck_history":1,"name":"mine","contract":{"sinks":1,"recent":)" +
                      std::to_string(budget - 1) + R"(,"budget":)" + std::to_string(budget) +
                      R"(,"visibility":"causal"},"setup":{"layers":1,"kv_heads":1}})" + "\n";
  std::vector<int> held;
  for (int token = 0; token < tokens; ++token) {
    held.push_back(token);
    std::string mask(held.size(), '1');
    if (token == hides.first) mask[static_cast<std::size_t>(hides.second)] = '0';
    const bool full = std::ssize(held) > budget;
    lines += R"({"do":"feed","tokens":1,"units":[{"evicted":[)" +
             (full ? std::to_string(held[1]) : "") + R"(],"visible":[")" + mask + "\"]}]}\n";
    if (full) held.erase(held.begin() + 1);
  }
  return lines;
}

std::vector<std::vector<std::string>> csv_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    auto& row = rows.emplace_back();
    for (const std::string_view word : split(line, ',')) row.emplace_back(word);
  }
  return rows;
}

const char* const zipf = "synthetic:zipf:tokens=60,layers=1,heads=1";

TEST(JudgeCommand, MeasuresARunAsAReplayMeasuresThePolicyThatItFollows) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  write(file, window_run(60, 8));
  const auto judged = run({"judge", file, "--trace", zipf, "--policy", "streaming:sinks=1",
                           "--policy", "h2o:budget=9", "--oracle", "--csv", "-", "--no-strict"});
  ASSERT_EQ(judged.status, 0) << judged.err;
  const auto rows = csv_of(judged.out);
  ASSERT_EQ(rows.size(), 4U) << judged.out;
  EXPECT_EQ(rows[1][0], "as recorded: mine");
  EXPECT_EQ(rows[2][1], "8");
  EXPECT_EQ(rows[3][1], "9");
  for (std::size_t column = 2; column < rows[0].size(); ++column) {
    EXPECT_NEAR(std::stod(rows[1][column]), std::stod(rows[2][column]), 1e-6) << rows[0][column];
  }
  EXPECT_LT(std::stod(rows[1].back()), 1.0);
  EXPECT_NE(rows[1][2], rows[3][2]);
}

TEST(JudgeCommand, SaysWhenARunHasNoOptimum) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  write(file, window_run(60, 8, {20, 0}));
  const auto judged = run({"judge", file, "--trace", zipf, "--oracle", "--filter", "rows.*"});
  EXPECT_EQ(judged.status, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("Beside the attention of zipf:tokens=60"));
  EXPECT_THAT(judged.out, HasSubstr("The run has no optimum"));
}

TEST(JudgeCommand, SaysWhatDoesNotFitATrace) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  const auto error_of = [&](const std::string& lines, const std::vector<std::string>& words) {
    write(file, lines);
    std::vector<std::string> command = {"judge", file};
    command.insert(command.end(), words.begin(), words.end());
    const auto judged = run(command);
    EXPECT_EQ(judged.status, 2) << judged.out;
    return judged.err;
  };
  EXPECT_THAT(error_of(window_run(20, 8), {"--trace", zipf}),
              HasSubstr("has 60 tokens, and the run feeds 20; expected the same tokens"));
  EXPECT_THAT(error_of(window_run(60, 8), {"--trace", "synthetic:zipf:tokens=60,heads=4,layers=1"}),
              HasSubstr("4 query heads"));
  EXPECT_THAT(error_of(window_run(20, 8) + "{\"do\":\"fork\"}\n", {"--trace", zipf}),
              HasSubstr("line 22: a call of another kind"));
  EXPECT_THAT(error_of(window_run(60, 8) + window_run(60, 8), {"--trace", zipf}),
              HasSubstr("line 62: a second run"));
  EXPECT_THAT(error_of(window_run(60, 8), {"--policy", "h2o"}),
              HasSubstr("--policy needs --trace"));
  EXPECT_THAT(error_of(window_run(60, 8), {"--trace", zipf, "--memory", "2k"}),
              HasSubstr("--memory"));
}

// A run of one unit as a safetensors file.
std::string arrays(const std::vector<std::int32_t>& feeds,
                   const std::vector<std::int32_t>& evicted_at,
                   const std::string& head) {
  const std::size_t first = feeds.size() * 4;
  const std::size_t end = first + evicted_at.size() * 4;
  const boost::json::value header = {
      {"__metadata__", {{"visible", "causal"}, {"head", head}}},
      {"feeds", {{"dtype", "I32"}, {"shape", {feeds.size()}}, {"data_offsets", {0, first}}}},
      {"evicted_at",
       {{"dtype", "I32"},
        {"shape", {1, 1, 1, evicted_at.size()}},
        {"data_offsets", {first, end}}}}};
  const std::string text = boost::json::serialize(header);
  const std::uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  file += text;
  for (const auto* numbers : {&feeds, &evicted_at}) {
    file.append(reinterpret_cast<const char*>(numbers->data()), numbers->size() * 4);
  }
  return file;
}

TEST(JudgeCommand, ReadsARunAsArrays) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.safetensors";
  const std::string head = window_run(0, 3).substr(0, window_run(0, 3).find('\n'));
  // Five tokens, a sink and the two newest: 3 takes the place of 1, and 4 that of 2.
  write(file, arrays({1, 1, 1, 1, 1}, {-1, 3, 4, -1, -1}, head));
  const auto held = run({"judge", file, "--filter", "size.*", "--filter", "resident.*"});
  EXPECT_EQ(held.status, 0) << held.out << held.err;
  EXPECT_THAT(held.out, HasSubstr(" 0 broken"));
  // Token 1 is evicted a call too late.
  write(file, arrays({1, 1, 1, 1, 1}, {-1, 4, 4, -1, -1}, head));
  const auto wrong = run({"judge", file, "--filter", "size.*"});
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("BROKEN  size.stored"));
  EXPECT_THAT(wrong.out, HasSubstr("line 5"));  // call 3
}

TEST(JudgeCommand, SaysWhatIsWrongWithArrays) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.safetensors";
  const std::string head = R"({"kvcheck_history":1,"setup":{"budget":3}})";
  const auto error_of = [&](const std::string& bytes) {
    write(file, bytes);
    const auto judged = run({"judge", file});
    EXPECT_EQ(judged.status, 2) << judged.out;
    return judged.err;
  };
  EXPECT_THAT(
      error_of(arrays({2, 1}, {-1, -1, 0}, head)),
      HasSubstr("token 2 of unit 0 is evicted at call 0; expected -1, or a call from 1 to 1"));
  EXPECT_THAT(error_of(arrays({2, 1}, {-1}, head)),
              HasSubstr("tensor 'evicted_at' has 1 tokens, and 'feeds' has 3"));
  EXPECT_THAT(error_of(arrays({2, -1}, {-1}, head)), HasSubstr("call 1 feeds -1 tokens"));
  EXPECT_THAT(error_of(arrays({1}, {-1}, "no json")),
              HasSubstr("line 1: this is not a line of JSON"));
  EXPECT_THAT(error_of(arrays({1}, {-1}, head).substr(0, 200)), HasSubstr("run.safetensors: "));
}

}  // namespace
}  // namespace kv::cli

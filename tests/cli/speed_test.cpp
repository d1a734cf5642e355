// kvcheck speed on a small model with random weights: its rows and its words, never its times.
#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using testing::HasSubstr;
using testing::IsEmpty;

Ran speed(std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      "speed", "--model", test::small_llama_that_reads("speed-model"), "--tokens", "3", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return test::run(arguments);
}

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string_view field : split(line, ',')) row.emplace_back(field);
  }
  return rows;
}

TEST(Speed, HasARowPerPolicyAndLength) {
  const Ran ran = speed({"--policy", "dense", "--policy", "window", "--budget", "8", "--length",
                         "16,32,48", "--chunk", "8", "--csv", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto rows = csv_rows(ran.out);
  ASSERT_EQ(rows.size(), 7U) << ran.out;
  constexpr std::size_t length = 2;
  constexpr std::size_t kv_bytes = 8;
  EXPECT_EQ(rows[0][length], "length");
  EXPECT_EQ(rows[0][kv_bytes], "kv_bytes");
  EXPECT_EQ(rows[3][length], "48");
  // Dense grows with the length, the window does not.
  EXPECT_LT(std::stoul(rows[1][kv_bytes]), std::stoul(rows[3][kv_bytes]));
  EXPECT_EQ(rows[4][kv_bytes], rows[6][kv_bytes]);
  EXPECT_EQ(rows[6][1], "8");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t column = 3; column <= 7; ++column) EXPECT_GT(std::stod(rows[i][column]), 0);
    // Attention is part of the token; both are medians, of the same tokens.
    EXPECT_LT(std::stod(rows[i][7]), std::stod(rows[i][4]));
  }
}

TEST(Speed, TimesPoliciesThatAskForTheClassesOfTokens) {
  const Ran ran = speed({"--policy", "token-classes", "--policy", "separators", "--budget", "16",
                         "--length", "32", "--csv", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(csv_rows(ran.out).size(), 3U) << ran.out;
}

TEST(Speed, PrintsATableAndWritesFiles) {
  const std::string json = test::temporary_path("speed.json");
  const Ran ran = speed({"--length", "8", "--json", json});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("bytes of weights; medians of 3 tokens"));
  EXPECT_THAT(ran.out, HasSubstr("attention ms"));
  const std::string line = test::bytes_of_file(json);
  EXPECT_THAT(line, HasSubstr("\"spec\":\"dense"));
  EXPECT_THAT(line, HasSubstr("\"length\":8"));
  EXPECT_THAT(line, HasSubstr("\"attention_s\":"));
  EXPECT_THAT(line, HasSubstr("\"mean_token_s\":"));
  const std::string kernels_word(kernels().name);
  EXPECT_THAT(line, HasSubstr("\"kernels\":\"" + kernels_word + "\",\"processor\":"));
  EXPECT_THAT(ran.out, HasSubstr("; " + kernels_word + " kernels on "));
}

TEST(Speed, SaysThatThreadsShareCores) {
  const std::vector<std::string> words = {
      "speed",    "--model",   test::small_llama_that_reads("threads-speed-model"),
      "--length", "4",         "--tokens",
      "1",        "--threads", std::to_string(machine_threads() + 1)};
  const Ran ran = test::run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("Note: " + words.back() + " threads share the "));
  EXPECT_THAT(ran.out, HasSubstr("medians of 1 token on "));
  std::vector<std::string> fewer = words;
  fewer.back() = "1";
  EXPECT_THAT(test::run(fewer).err, IsEmpty());
}

TEST(Speed, AddsItsRunToAResultsFile) {
  const test::TemporaryFolder folder;
  const Ran ran = speed({"--length", "8,16", "--policy", "window", "--budget", "4", "--weights",
                         "int8", "-o", folder / "run.db"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Ran listed = test::run({"report", folder / "run.db", "--list"});
  EXPECT_THAT(listed.out, HasSubstr("run 1, complete, 1 timing, 2 cells"));
  EXPECT_THAT(listed.out, HasSubstr("kvcheck speed --model "));
  EXPECT_THAT(listed.out, HasSubstr(" --weights int8 --policy window --budget 4 --length 8,16"));
  EXPECT_EQ(test::run({"report", folder / "run.db", "-o", folder / "report"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "report/timing-1/timings.csv"));
  // What fails leaves nothing behind.
  EXPECT_EQ(speed({"--keys", "rotated-f16", "-o", folder / "none.db"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
}

// The medians of short runs on a busy machine; dense takes a hundred times as long by then.
TEST(Speed, ATokenCostsTheSameAfterAHundredThousand) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers make it slow";
#endif
  const Ran ran = test::run({"speed", "--model", test::small_llama_that_reads("long-speed-model"),
                             "--policy", "streaming:sinks=4;positions=in-cache", "--budget", "32",
                             "--length", "2000,100000", "--tokens", "500", "--csv", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto rows = csv_rows(ran.out);
  ASSERT_EQ(rows.size(), 3U) << ran.out;
  const auto numbers = [&](std::size_t row, std::size_t column) {
    return std::stod(rows[row][column]);
  };
  EXPECT_LT(numbers(2, 4), 3 * numbers(1, 4));
  EXPECT_LT(numbers(2, 7), 3 * numbers(1, 7));
  EXPECT_EQ(numbers(2, 8), numbers(1, 8));
}

void expect_refused(const Ran& ran, const std::string& arguments) {
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr(arguments));
}

TEST(Speed, RefusesWhatMakesNoSense) {
  expect_refused(test::run({"speed"}), "no --model is given");
  expect_refused(speed({"--length", "0"}), "--length");
  expect_refused(speed({"--tokens", "0"}), "--tokens");
  expect_refused(speed({"--json", "-", "--csv", "-"}), "--json and --csv both name '-'");
  expect_refused(speed({"--keys", "rotated-f16"}), "expected positions=shifted");
  expect_refused(speed({"book.txt"}), "book.txt");
  expect_refused(speed({"--budget", "8"}), "--budget has nothing to bound: dense evicts nothing");
}

}  // namespace
}  // namespace kv

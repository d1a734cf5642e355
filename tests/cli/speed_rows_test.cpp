// The rows of kvcheck speed with several runs: their order, what is kept of them, and the outputs.
#include "kvcheck/cli/evaluate/speed_rows.h"

#include <map>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/evaluate/speed.h"
#include "kvcheck/cli/evaluate/speed_run.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Parts in memory.
class MemoryStore final : public PartStore {
 public:
  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override {
    const auto at = parts.find(key);
    if (at == parts.end()) return std::nullopt;
    return at->second;
  }

  void keep(std::vector<KeptPart> more) override {
    for (KeptPart& part : more) {
      EXPECT_TRUE(parts.emplace(part.key, std::move(part.bytes)).second) << part.key;
      keys.push_back(part.key);
    }
  }

  std::map<std::string, std::vector<std::byte>> parts;
  std::vector<std::string> keys;  // in the order in which they were kept
};

// Dense and a window after 4 and 8 tokens, three times.
class SpeedRowsTest : public ::testing::Test {
 protected:
  static cli::SpeedRows rows() {
    return {.cells = {{.spec = parse_spec("dense").value(), .seed = 1},
                      {.spec = parse_spec("window:budget=3").value(), .seed = 1}},
            .lengths = {4, 8},
            .tokens = 2,
            .runs = 3};
  }

  [[nodiscard]] std::vector<TimedCell> timed(PartStore* store,
                                             const model::DecoderOptions& options = {}) const {
    auto cells =
        cli::time_rows(model_, options, rows(), store, [](std::size_t, const std::string&) {});
    EXPECT_TRUE(cells);
    return cells ? *std::move(cells) : std::vector<TimedCell>();
  }

  model::LanguageModel model_ =
      cli::opened_weights(
          *cli::Arguments::parse(
              cli::speed_command.options,
              std::vector<std::string>{"--model", test::small_llama_that_reads("rows-model")}))
          .value();
};

TEST_F(SpeedRowsTest, AreTimedOneLengthAtATimeAndTheOtherWayRoundInEverySecondRun) {
  MemoryStore store;
  const std::vector<TimedCell> cells = timed(&store);
  // Rows have the numbers of their places by repetition, spec and length.
  EXPECT_THAT(store.keys, ElementsAre("row 0", "row 2", "row 1", "row 3",  // both at 4, both at 8
                                      "row 6", "row 4", "row 7", "row 5",  // the window first
                                      "row 8", "row 10", "row 9", "row 11"));
  ASSERT_EQ(cells.size(), 12U);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].repetition, i / 4 + 1);
    EXPECT_EQ(cells[i].cell.spec.policy->name, i % 4 < 2 ? "dense" : "window");
    EXPECT_EQ(cells[i].length, i % 2 == 0 ? 4U : 8U);
    EXPECT_GT(cells[i].token_s, 0);
    EXPECT_GT(cells[i].mean_token_s, 0);
    EXPECT_EQ(cells[i].kernels, kernels().name);
    EXPECT_EQ(cells[i].processor, processor_name());
  }
}

// Of what these options count, rows see nothing, because they count for themselves.
TEST_F(SpeedRowsTest, AreTimedAfterOneChunkAndOneTokenThatAreNot) {
  std::size_t begun = 0;
  model::DecoderOptions options;
  options.on_attention = [&begun](bool begins) { begun += begins ? 1 : 0; };
  MemoryStore store;
  static_cast<void>(timed(&store, options));
  const std::size_t once = begun;
  EXPECT_GT(once, 0U);
  store.parts.erase("row 4");
  static_cast<void>(timed(&store, options));
  EXPECT_EQ(begun, 2 * once);
  static_cast<void>(timed(&store, options));
  EXPECT_EQ(begun, 2 * once);
}

TEST(SpeedRows, HaveTheMeanOfTheTwoInTheMiddleAsTheirMedian) {
  EXPECT_EQ(cli::median({3}), 3);
  EXPECT_EQ(cli::median({8, 2}), 5);
  EXPECT_EQ(cli::median({9, 1, 3}), 3);
  EXPECT_EQ(cli::median({7, 1, 3, 100}), 5);
}

TEST_F(SpeedRowsTest, AreNotTimedAgainIfTheyAreKept) {
  MemoryStore store;
  const std::vector<TimedCell> first = timed(&store);
  store.parts.erase("row 4");
  store.keys.clear();
  const std::vector<TimedCell> second = timed(&store);
  EXPECT_THAT(store.keys, ElementsAre("row 4"));
  for (const std::size_t i : {3U, 5U, 11U}) {
    EXPECT_EQ(second[i].token_s, first[i].token_s);
    EXPECT_EQ(second[i].repetition, first[i].repetition);
    EXPECT_EQ(second[i].mean_token_s, first[i].mean_token_s);
    EXPECT_EQ(second[i].kernels, first[i].kernels);
    EXPECT_EQ(second[i].processor, first[i].processor);
  }
}

TEST(SpeedRows, OfSeveralRunsAreInAllOutputs) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> command = {
      "speed",    "--model",  test::small_llama_that_reads("runs-model"),
      "--tokens", "2",        "--length",
      "8",        "--quiet",  "--policy",
      "window",   "--policy", "h2o",
      "--budget", "4",        "--runs",
      "3"};
  std::vector<std::string> stored = command;
  stored.insert(stored.end(),
                {"-o", folder / "run.db", "--json", folder / "j", "--csv", folder / "c"});
  const Ran ran = test::run(stored);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("and of 3 runs (least to most)"));
  EXPECT_THAT(ran.out, HasSubstr(" to "));
  const std::string json = test::read_text(folder / "j");
  EXPECT_EQ(std::ranges::count(json, '\n'), 6);
  EXPECT_THAT(json, HasSubstr("\"repetition\":3"));
  const std::string csv = test::read_text(folder / "c");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 7);
  EXPECT_THAT(csv, HasSubstr("peak_bytes,repetition\n"));
  const reports::StoredRun run = reports::read_run(folder / "run.db").value();
  EXPECT_THAT(run.summary.command, HasSubstr(" --runs 3 "));
  ASSERT_EQ(run.timings.front().cells.size(), 6U);
  EXPECT_EQ(run.timings.front().cells[5].repetition, 3U);
  EXPECT_GT(run.timings.front().threads, 0U);
  EXPECT_EQ(test::run({"speed", "--model", "none", "--runs", "0"}).status, 2);
}

}  // namespace
}  // namespace kv

// kvcheck record, on a small model with random weights.
#include "kvcheck/tests/cli/small_model.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;

class RecordCommand : public test::SmallModelTest {
 protected:
  [[nodiscard]] Ran record(std::vector<std::string> arguments) const {
    const std::vector<std::string> first = {"record", "--model", model_, "--text", text_};
    arguments.insert(arguments.begin(), first.begin(), first.end());
    return run(arguments);
  }
};

TEST_F(RecordCommand, WritesWhatReplayReads) {
  const std::string path = test::temporary_path("commands.safetensors");
  const Ran ran = record(
      {"-o", path, "--layers", "1", "--kind", "attention", "--tokens", "24", "--source", "a test"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const Trace trace = open_trace(path).value();
  EXPECT_EQ(trace.info().tokens, 24U);
  EXPECT_EQ(trace.info().query_heads, 4U);
  EXPECT_EQ(run({"trace", "verify", path}).status, 0);
  EXPECT_EQ(run({"replay", path, "--policy", "h2o", "--budget", "8", "--quiet"}).status, 0);
  expect_refused(record({"-o", text_}), "would replace the text");
  expect_refused(record({"-o", model_ + "/model.safetensors"}),
                 "would replace a file of the model");
}

TEST_F(RecordCommand, ATraceBesideTheModelIsReplacedAndIsNoneOfItsFiles) {
  const std::string path = model_ + "/book.qkv.safetensors";
  for (const char* tokens : {"24", "12"}) {
    const Ran ran = record({"-o", path, "--layers", "1", "--tokens", tokens});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(std::to_string(open_trace(path).value().info().tokens), tokens);
  }
}

TEST_F(RecordCommand, RefusesAPromptThatIsLongerThanTheText) {
  const std::string path = test::temporary_path("long-prompt.safetensors");
  expect_refused(record({"-o", path, "--tokens", "24", "--prompt", "20", "--question", "5"}),
                 "the prompt and the question have 25 tokens, and the text 24; expected at most");
}

TEST_F(RecordCommand, BeginsAfterTheSkippedTokens) {
  const std::string path = test::temporary_path("some.safetensors");
  const auto recorded = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", path, "--quiet"});
    const Ran ran = record(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const Trace trace = open_trace(path).value();
    return std::vector<std::int32_t>(trace.token_ids().begin(), trace.token_ids().end());
  };
  const std::vector<std::int32_t> all = recorded({});
  std::vector<std::int32_t> expected(all.begin() + 6, all.begin() + 15);
  expected.insert(expected.begin(), all[0]);  // the begin token
  EXPECT_EQ(recorded({"--skip", "5", "--tokens", "10"}), expected);
  expect_refused(record({"-o", "x", "--skip", "60"}), "--skip 60 leaves too little of " + text_);
}

TEST_F(RecordCommand, UnderAPolicyItSaysSo) {
  const std::string path = test::temporary_path("policed.safetensors");
  const auto under = [&](const std::string& policy) {
    return record(
        {"-o", path, "--kind", "attention", "--policy", policy, "--budget", "8", "--quiet"});
  };
  EXPECT_EQ(under("separators").status, 0);  // it looks at words
  EXPECT_EQ(under("streaming:sinks=1").status, 0);
  EXPECT_THAT(run({"trace", "info", path}).out, HasSubstr("closed: streaming:sinks=1,recent=7"));
  EXPECT_THAT(run({"replay", path, "--policy", "h2o", "--budget", "4", "--quiet"}).out,
              HasSubstr("closed loop: recorded under 'streaming:sinks=1,recent=7"));
  expect_refused(under("all"), "--policy all is several policies; expected one");
  expect_refused(record({"-o", path, "--policy", "@window-recompute", "--budget", "8"}),
                 "a token has several keys and values");
}

// When it is computed, not after hours when the trace is written; the numbers are in layer 0.
TEST(RecordNumbers, TooLargeForF16EndTheRunAtOnce) {
  test::SmallModel small = test::small_llama();
  for (float& one : small.tensors.at("model.layers.0.self_attn.k_proj.weight").values) one *= 1e6F;
  const std::string model = small.write("large-keys");
  const std::string ids = test::temporary_file("ids.txt", "1 2 3 4 5 6 7 8");
  const auto record = [&](const std::string& storage) {
    return run({"record", "--model", model, "--ids", "--text", ids, "--storage", storage, "-o",
                test::temporary_path("large.safetensors")});
  };
  const Ran refused = record("f16");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("a key of layer 0 has "));
  EXPECT_THAT(refused.err, HasSubstr(", which f16 cannot hold; expected storage as f32 or bf16"));
  for (const std::string storage : {"f32", "bf16"}) {
    const Ran ran = record(storage);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
}

}  // namespace
}  // namespace kv

// Perplexity: scored once whatever the chunk, and what is known of a trained model.
#include "model/evaluate.h"

#include <cmath>
#include <filesystem>

#include "tests/model/small_models.h"
#include "tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;

TEST(Evaluate, NllIsMinusTheLogarithmOfTheSoftmax) {
  const std::vector<float> logits = {0, std::log(2.0F), 1000};
  EXPECT_NEAR(nll_of(std::vector<float>{0, std::log(2.0F)}, 1), std::log(1.5), 1e-6);
  EXPECT_NEAR(nll_of(logits, 0), 1000, 1e-9);
  EXPECT_EQ(nll_of(logits, 2), 0);
}

TEST(Evaluate, EveryTargetIsScoredOnceWhateverTheChunk) {
  const LanguageModel model = open_model(test::small_llama().write("eval-model")).value();
  std::vector<std::vector<Token>> streams(2);
  for (Token i = 0; i < 41; ++i) streams[0].push_back(i * i % 32);
  for (Token i = 0; i < 10; ++i) streams[1].push_back(i % 7);
  const auto run = [&](const std::string& spec) {
    return evaluate(model, parse_spec(spec).value(), streams, {}).value();
  };
  const Evaluation one = run("dense");
  ASSERT_EQ(one.nll[0].size(), 40U);
  ASSERT_EQ(one.nll[1].size(), 9U);
  EXPECT_EQ(one.targets(), 49U);
  for (const std::string chunk : {"2", "8", "39", "40", "41", "100"}) {
    EXPECT_EQ(run("dense;chunk=" + chunk).nll, one.nll) << chunk;
  }
  const auto window = run("streaming:sinks=1,recent=6;visibility=window").nll;
  EXPECT_EQ(run("streaming:sinks=1,recent=6;visibility=window;chunk=16").nll, window);
  EXPECT_NE(window, one.nll);
}

TEST(Evaluate, SegmentsDouble) {
  Evaluation evaluation;
  evaluation.nll = {std::vector<float>(9, 1.0F), std::vector<float>(3, 2.0F)};
  const std::vector<Segment> segments = segments_of(evaluation, 2);
  ASSERT_EQ(segments.size(), 4U);
  EXPECT_EQ(segments[0].targets, 4U);
  EXPECT_NEAR(segments[0].perplexity(), std::exp(1.5), 1e-12);
  EXPECT_EQ(segments[1].targets, 3U);
  EXPECT_EQ(segments[2].first, 4U);
  EXPECT_EQ(segments[3].last, 16U);
  EXPECT_EQ(segments[3].targets, 1U);
  EXPECT_NEAR(evaluation.perplexity(), std::exp(15.0 / 12), 1e-12);
}

class StoryText : public Test {
 protected:
  void SetUp() override {
    const std::string folder = test::shared_data("stories260K");
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no model at " << folder;
    model_ = open_model(folder + "/stories260K.bin").value();
    tokenizer_ = open_tokenizer("", folder + "/tok512.bin", 512).value();
    text_ = test::bytes_of_file(test::shared_data("texts/tinystories-train-head-2MiB.txt"));
  }

  Evaluation run(const std::string& spec, const TextOptions& options) {
    const auto streams = streams_of(text_, *tokenizer_, options).value();
    return evaluate(model_, parse_spec(spec).value(), streams, {}).value();
  }

  LanguageModel model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string text_;
};

TEST_F(StoryText, DenseBreaksPastTheTrainedContextAndAWindowDoesNot) {
  const TextOptions stream = {.separator = "<|endoftext|>", .begin = 1, .tokens = 4097};
  const std::vector<Segment> dense = segments_of(run("dense;chunk=64", stream), 256);
  ASSERT_EQ(dense.size(), 5U);
  const auto window = run("window:recent=128;visibility=window;chunk=64", stream);
  std::string words;
  for (const Segment& segment : dense) words += std::to_string(segment.perplexity()) + " ";
  EXPECT_NEAR(dense[0].perplexity(), 3.5, 0.02 * 3.5) << words;
  EXPECT_NEAR(dense[1].perplexity(), 4.6, 0.02 * 4.6) << words;
  EXPECT_NEAR(dense[4].perplexity(), 208, 0.02 * 208) << words;
  EXPECT_NEAR(window.perplexity(), 3.95, 0.05);
}

TEST_F(StoryText, SingleStoriesHaveTheirKnownPerplexity) {
  const Evaluation each = run(
      "dense;chunk=64", {.separator = "<|endoftext|>", .each = true, .begin = 1, .tokens = 40000});
  EXPECT_NEAR(each.perplexity(), 4.09, 0.08);
}

TEST_F(StoryText, StreamsAreCutSeparatedAndLimited) {
  TextOptions options = {.separator = "<|endoftext|>", .begin = 1, .mark = true, .tokens = 1000};
  const auto whole = streams_of(text_, *tokenizer_, options).value();
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].size(), 1000U);
  EXPECT_GT(std::ranges::count(whole[0], 1), 2);
  options.mark = false;
  EXPECT_EQ(std::ranges::count(streams_of(text_, *tokenizer_, options).value()[0], 1), 1);
  options.each = true;
  const auto parts = streams_of(text_, *tokenizer_, options).value();
  EXPECT_EQ(static_cast<std::ptrdiff_t>(parts.size()), std::ranges::count(whole[0], 1));
  const auto error = [&](std::string_view text) {
    return streams_of(text, *tokenizer_, {}).error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("the text is empty"));
  EXPECT_THAT(error(" \n"), HasSubstr("the text is empty"));
  EXPECT_THAT(error("a"), HasSubstr("the text has no two tokens"));
  EXPECT_THAT(error("ab\xFF"), HasSubstr("not UTF-8 at byte 2"));
}

}  // namespace
}  // namespace kv

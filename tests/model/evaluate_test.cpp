// Perplexity: scored once whatever the chunk, and what is known of a trained model.
#include "kvcheck/model/run/evaluate.h"

#include <cmath>
#include <filesystem>

#include "kvcheck/model/run/text_streams.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/policies/fixed_victims.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
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
  std::vector<std::vector<TokenId>> streams(2);
  for (TokenId i = 0; i < 41; ++i) streams[0].push_back(i * i % 32);
  for (TokenId i = 0; i < 10; ++i) streams[1].push_back(i % 7);
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

TEST(Evaluate, KnowsWhereTheLikeliestTokenWasRight) {
  const LanguageModel model = open_model(test::small_llama().write("right-model")).value();
  std::vector<TokenId> stream = {1};
  const Spec spec = parse_spec("dense").value();
  // Each next token is the likeliest, but for every third.
  for (int i = 0; i < 12; ++i) {
    Decoder decoder = Decoder::create(model, spec).value();
    ASSERT_TRUE(decoder.feed(stream, Logits::last));
    const auto best = std::ranges::max_element(decoder.logits()) - decoder.logits().begin();
    stream.push_back(static_cast<TokenId>(i % 3 == 2 ? (best + 1) % 32 : best));
  }
  const std::vector<std::vector<TokenId>> streams = {stream};
  const Evaluation done = evaluate(model, spec, streams, {}).value();
  EXPECT_THAT(done.right[0], ElementsAre(1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0));
}

TEST(Evaluate, APolicyThatNamesNoLegalVictimsIsAnErrorThatNamesIt) {
  const LanguageModel model = open_model(test::small_llama().write("wrong-victims-model")).value();
  const std::vector<std::vector<TokenId>> streams = {{1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_TRUE(evaluate(model, fixed_victims<0>(), streams, {}));
  const Result<Evaluation> done = evaluate(model, fixed_victims<2, 1>(), streams, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message,
              HasSubstr("policy 'fixed' names victims that are none: found 2 and then 1"));
}

// Chunks of unlike sizes, so that some cells end before others; vectors that are computed anew; and
// positions that are added to a token before the first layer.
TEST(EvaluateTogether, GivesTheBitsOfEachCellAlone) {
  const std::vector<std::string> specs = {
      "dense",
      "dense;chunk=5",
      "random:sinks=1,budget=9",
      "streaming:sinks=1,recent=7;positions=in-cache;vectors=re-evaluated",
      "tova:budget=8;chunk=3",
      "snapkv:recent=4,ratio=0.5;compress=prompt;chunk=4"};
  std::vector<std::vector<TokenId>> streams(2);
  for (TokenId i = 0; i < 31; ++i) streams[0].push_back(i * i % 32);
  for (TokenId i = 0; i < 20; ++i) streams[1].push_back(i % 7);
  for (const auto& written :
       {test::small_llama().write("together-llama"), test::small_gpt2().write("together-gpt2")}) {
    const LanguageModel model = open_model(written).value();
    std::vector<Cell> cells;
    for (const std::string& spec : specs) {
      for (const std::uint64_t seed : {3U, 4U}) cells.push_back({parse_spec(spec).value(), seed});
    }
    const auto together = evaluate_together(model, cells, streams, {.marks = {.prompt = 12}});
    ASSERT_TRUE(together) << together.error().message;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const DecoderOptions own{.seed = cells[i].seed, .marks = {.prompt = 12}};
      const Evaluation alone = evaluate(model, cells[i].spec, streams, own).value();
      EXPECT_EQ((*together)[i].nll, alone.nll) << cells[i].spec.label();
      EXPECT_EQ((*together)[i].right, alone.right);
      EXPECT_EQ((*together)[i].kv_bytes, alone.kv_bytes);
    }
    EXPECT_NE((*together)[4].nll, (*together)[5].nll);  // two seeds of a policy that draws
  }
}

TEST(EvaluateTogether, SaysWhoseErrorItIs) {
  const LanguageModel model = open_model(test::small_llama().write("together-error")).value();
  const std::vector<std::vector<TokenId>> streams = {{1, 2, 3, 4, 5, 6, 7, 8}};
  const std::vector<Cell> cells = {{parse_spec("dense").value()}, {fixed_victims<2, 1>()}};
  const auto done = evaluate_together(model, cells, streams, {});
  ASSERT_FALSE(done);
  EXPECT_TRUE(
      done.error().message.starts_with("fixed:sinks=0,recent=1: policy 'fixed' names victims"))
      << done.error().message;
  const std::vector<std::vector<TokenId>> unknown = {{99, 1}};
  const auto refused = evaluate_together(model, cells, unknown, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("dense: the text has token 99"));
}

TEST(Evaluate, ACellHasPointsAndTheRecallThatWasAsked) {
  Evaluation evaluation;
  evaluation.nll = {std::vector<float>(9, 1.0F), std::vector<float>(3, 2.0F)};
  evaluation.right = {std::vector<std::uint8_t>(9, 1), {0, 0, 1}};
  evaluation.first_losses = {7, 3};
  evaluation.kv_bytes = 77;
  using Questions = std::vector<std::vector<RecallQuestion>>;
  const Cell cell{.spec = parse_spec("dense").value(), .seed = 5};
  const ClosedLoopCell bare = closed_loop_cell(cell, evaluation, Questions(2), 4);
  EXPECT_EQ(bare.cell, cell);
  EXPECT_EQ(bare.kv_bytes, 77U);
  EXPECT_THAT(bare.series,
              ElementsAre(LossPoint{0, 7, 10.0}, LossPoint{4, 4, 4.0}, LossPoint{8, 1, 1.0}));
  EXPECT_EQ(bare.targets_after, 2U);
  EXPECT_EQ(bare.nats_after, 2.0);
  EXPECT_EQ(bare.perplexity_after(), std::exp(1.0));
  EXPECT_THAT(bare.recall, IsEmpty());
  const ClosedLoopCell asked = closed_loop_cell(cell, evaluation, Questions{{{3, 2}}, {{2, 1}}}, 4);
  EXPECT_EQ(asked.recall[0], (RecallBin{1, 16, 2, 1}));
  evaluation.first_losses = {9, 3};
  const ClosedLoopCell lossless = closed_loop_cell(cell, evaluation, Questions(2), 4);
  EXPECT_EQ(lossless.targets_after, 0U);
  EXPECT_TRUE(std::isnan(lossless.perplexity_after()));
}

// Before the first loss each policy predicts as dense does, and there it first predicts otherwise.
TEST(Evaluate, TheFirstLossIsWherePredictionsFirstDifferFromDense) {
  const LanguageModel model = open_model(test::small_llama().write("first-loss")).value();
  std::vector<std::vector<TokenId>> streams(2);
  for (int i = 0; i < 40; ++i) {
    streams[0].push_back((i * 7 + 3) % 29);
    if (i < 6) streams[1].push_back((i * 5 + 2) % 29);
  }
  const auto run = [&](const std::string& spec) {
    return evaluate(model, parse_spec(spec).value(), streams, {}).value();
  };
  const Evaluation dense = run("dense");
  EXPECT_THAT(dense.first_losses, ElementsAre(39U, 5U));
  for (const std::string settings :
       {"", ";chunk=5", ";timing=trim-then-attend", ";timing=lazy:4", ";positions=in-cache"}) {
    SCOPED_TRACE(settings);
    for (const std::string spec : {"streaming:sinks=2,recent=10", "h2o:budget=12"}) {
      const Evaluation lossy = run(spec + settings);
      ASSERT_EQ(lossy.first_losses.size(), 2U);
      EXPECT_EQ(lossy.nll[1], dense.nll[1]);
      EXPECT_EQ(lossy.first_losses[1], 5U);
      const auto [at, other] = std::ranges::mismatch(lossy.nll[0], dense.nll[0]);
      EXPECT_EQ(lossy.first_losses[0], static_cast<std::size_t>(at - lossy.nll[0].begin())) << spec;
      EXPECT_GE(lossy.first_losses[0], 11U);
    }
  }
}

TEST(TextStreams, WindowsHoldWholeLinesWhereTheyFit) {
  const std::string folder = test::small_llama_that_reads("window-model");
  const auto tokenizer = open_tokenizer(folder, "", 258).value();
  const auto sizes = [&](std::string_view text, const TextOptions& options) {
    std::vector<std::size_t> all;
    for (const auto& stream : streams_of(text, *tokenizer, options).value()) {
      all.push_back(stream.size());
      EXPECT_EQ(stream[0] == 7, options.begin.has_value());
    }
    return all;
  };
  const std::string text = "xxx\nyyyy\nz\nwwwwwwwwwwww\nuu\n";  // 4, 5, 2, 13 and 3 bytes
  EXPECT_THAT(sizes(text, {.begin = 7, .window = 8}), ElementsAre(5, 8, 8, 7, 4));
  EXPECT_THAT(sizes(text, {.window = 9}), ElementsAre(9, 2, 9, 7));
  EXPECT_THAT(sizes(text, {.begin = 7, .tokens = 11, .window = 8}), ElementsAre(5, 6));
  EXPECT_THAT(sizes("xx|yy|z", {.separator = "|", .each = true, .begin = 7, .window = 8}),
              ElementsAre(3, 3, 2));
}

// Puts a 0 before a text, as some tokenizers put a blank, and has a token 1 for two ends of lines.
class WholeTexts final : public Tokenizer {
 public:
  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    std::vector<TokenId> tokens = {0};
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool two = text.substr(at, 2) == "\n\n";
      tokens.push_back(two ? 1 : text[at]);
      at += two ? 1 : 0;
    }
    return tokens;
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> /*previous*/,
                                  TokenId token) const override {
    if (token == 0) return "";
    return token == 1 ? "\n\n" : std::string(1, static_cast<char>(token));
  }

  [[nodiscard]] std::size_t vocabulary() const override { return 128; }
};

TEST(TextStreams, WindowsHoldTheTokensOfTheWholeText) {
  const WholeTexts tokenizer;
  const std::string text = "ab\n\ncd\nefg\n\n\nh";
  const std::vector<TokenId> whole = streams_of(text, tokenizer, {}).value().front();
  // None of which leaves a window of one token, which has no target.
  for (const std::size_t window : {4U, 6U, 9U, 100U}) {
    std::vector<TokenId> joined;
    for (const auto& stream : streams_of(text, tokenizer, {.window = window}).value()) {
      joined.insert(joined.end(), stream.begin(), stream.end());
    }
    EXPECT_EQ(joined, whole) << window;
  }
  // 0 a b 1 | c d \n | e f g 1 | \n | h
  const auto streams = streams_of(text, tokenizer, {.window = 7}).value();
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[0].size(), 7U);
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
  const Evaluation whole = run("dense;chunk=64", stream);
  EXPECT_THAT(whole.first_losses, ElementsAre(whole.nll[0].size()));
  const ClosedLoopCell cell = closed_loop_cell(Cell(), whole, {}, 256);
  const std::vector<Segment> dense = segments_of(cell.series, 256);
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
}  // namespace kv::model

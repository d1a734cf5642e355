// What the decoder promises about chunks, budgets and bad input; and a trained model's golden text.
#include "kvcheck/model/decoder/decoder.h"

#include <algorithm>
#include <filesystem>

#include "kvcheck/tests/model/feeding.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using namespace testing;

LanguageModel opened(const test::SmallModel& small, Number number = Number::f32) {
  return open_model(small.write("decoder-model", number)).value();
}

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(i * i * 5 % 29 + 2));
  return tokens;
}

// The logits of every token, fed in chunks.
std::vector<float> logits_of(const LanguageModel& model,
                             const std::string& spec,
                             std::size_t chunk,
                             const DecoderOptions& options = {}) {
  return logits_in_chunks(model, spec, some_tokens(50), chunk, options);
}

TEST(Decoder, DenseGivesTheSameBitsWhateverTheChunk) {
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    const LanguageModel model = opened(test::small_llama(), number);
    const std::vector<float> one = logits_of(model, "dense", 1);
    EXPECT_EQ(one.size(), 50U * 32U);
    for (const std::size_t chunk : {2U, 7U, 50U}) EXPECT_EQ(logits_of(model, "dense", chunk), one);
  }
}

TEST(Decoder, ABudgetThatCoversTheTextIsDenseToTheBit) {
  const LanguageModel model = opened(test::small_gpt_neox());
  const std::vector<float> dense = logits_of(model, "dense", 5);
  for (const std::string spec :
       {"streaming:sinks=4,budget=50", "window:recent=50", "reservoir:sinks=1,recent=8,budget=50",
        "h2o:budget=50", "tova:budget=50;unit=layer", "h2o:budget=50;unit=model",
        "streaming:budget=50;timing=lazy:9", "h2o:budget=64;timing=trim-then-attend"}) {
    EXPECT_EQ(logits_of(model, spec, 5), dense) << spec;
  }
}

TEST(Decoder, WindowVisibilityDoesNotDependOnTheChunk) {
  const LanguageModel model = opened(test::small_llama());
  for (const std::string spec : {"streaming:sinks=2,recent=8;visibility=window",
                                 "h2o:recent=4,budget=12;visibility=window;positions=in-cache",
                                 "reservoir:recent=4,budget=12;visibility=window;unit=layer"}) {
    const std::vector<float> one = logits_of(model, spec, 1);
    for (const std::size_t chunk : {3U, 50U}) EXPECT_EQ(logits_of(model, spec, chunk), one) << spec;
  }
}

TEST(Decoder, LastLogitsAreTheLastOfAll) {
  const LanguageModel model = opened(test::small_gpt2());
  Decoder all = Decoder::create(model, parse_spec("dense").value()).value();
  Decoder last = Decoder::create(model, parse_spec("dense").value()).value();
  const std::vector<TokenId> tokens = some_tokens(9);
  ASSERT_TRUE(all.feed(tokens));
  ASSERT_TRUE(last.feed(tokens, Logits::last));
  EXPECT_THAT(last.logits(), ElementsAreArray(all.logits().last(32)));
}

TEST(Decoder, AConstantCacheRemainsConstant) {
  const LanguageModel model = opened(test::small_llama());
  Decoder decoder =
      Decoder::create(model, parse_spec("streaming:sinks=2,recent=14").value()).value();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(decoder.feed(std::vector<TokenId>{static_cast<TokenId>(i % 32)}));
    if (i == 16) bytes = decoder.attention().bytes();
    if (i > 16) {
      EXPECT_EQ(decoder.attention().bytes(), bytes);
    }
  }
  // 17 rows of key and value, 4 numbers each, for 2 kv-heads in 2 layers.
  EXPECT_EQ(bytes, 17U * 2 * 4 * 4 * 4);
}

std::string feed_error(const test::SmallModel& small,
                       const std::string& spec,
                       const std::vector<TokenId>& tokens) {
  const LanguageModel model = opened(small);
  Result<Decoder> decoder = Decoder::create(model, parse_spec(spec).value());
  if (!decoder) return decoder.error().message;
  const Result<void> fed = decoder->feed(tokens);
  if (!fed) {
    EXPECT_EQ(decoder->seen(), 0U);
  }
  return fed ? "fed" : fed.error().message;
}

TEST(Decoder, RefusesWhatItCannotDo) {
  EXPECT_EQ(feed_error(test::small_llama(), "dense", {1, 32}),
            "the text has token 32, which is not in the model's vocabulary; expected 0 to 31");
  EXPECT_THAT(feed_error(test::small_llama(), "dense", {-1}),
              HasSubstr("the text has token -1, which"));
  EXPECT_EQ(feed_error(test::small_gpt2(), "dense", std::vector<TokenId>(64, 1)), "fed");
  EXPECT_THAT(feed_error(test::small_gpt2(), "dense", std::vector<TokenId>(65, 1)),
              HasSubstr("position 64 is past the 64 that the model has learned"));
  EXPECT_THAT(feed_error(test::small_llama(), "h2o:budget=8;unit=model;visibility=window", {1, 2}),
              HasSubstr("expected chunk=1"));
}

// How many tokens, in chunks of the spec's, fit into learned positions: 64 of them.
std::size_t fitting(const std::string& words) {
  const LanguageModel model = opened(test::small_gpt2());
  const Spec spec = parse_spec(words).value();
  Decoder decoder = Decoder::create(model, spec).value();
  const std::vector<TokenId> chunk(spec.chunk, 1);
  while (decoder.seen() < 200 && decoder.feed(chunk, Logits::last)) continue;
  return decoder.seen();
}

TEST(Decoder, TakesRanksAsFarAsTheyWereLearned) {
  const std::string ranks = ";positions=in-cache";
  EXPECT_EQ(fitting("streaming:sinks=3,recent=60" + ranks), 200U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=61" + ranks), 64U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=61;timing=trim-then-attend" + ranks), 200U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=61;visibility=window;chunk=8" + ranks), 200U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=61;timing=trim-then-attend;chunk=8" + ranks), 200U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=62;timing=trim-then-attend;chunk=8" + ranks), 64U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=53;chunk=8" + ranks), 200U);
  EXPECT_EQ(fitting("streaming:sinks=3,recent=53;chunk=8;timing=lazy:1" + ranks), 64U);
}

std::string refusal(const test::SmallModel& small,
                    const std::string& spec,
                    const DecoderOptions& options) {
  const LanguageModel model = opened(small);
  const Result<Decoder> decoder = Decoder::create(model, parse_spec(spec).value(), options);
  return decoder ? "created" : decoder.error().message;
}

TEST(Decoder, RefusesToShiftWhatCannotBeShifted) {
  const DecoderOptions raw{.keys = KeyStorage::raw};
  const DecoderOptions in_f16{.keys = KeyStorage::rotated_f16};
  const std::string shifted = "streaming:sinks=2,recent=6;positions=shifted";
  EXPECT_EQ(refusal(test::small_llama(), shifted, {}), "created");
  EXPECT_THAT(refusal(test::small_gpt2(), shifted, {}), HasSubstr("carry no rotation"));
  EXPECT_THAT(refusal(test::small_llama(), shifted, raw), HasSubstr("expected rotated keys"));
  EXPECT_THAT(refusal(test::small_llama(), "window", in_f16),
              HasSubstr("expected positions=shifted"));
  EXPECT_THAT(refusal(test::small_llama(), shifted, in_f16), HasSubstr("expected f16 as storage"));
}

TEST(Decoder, ShiftedKeysOfACoveringBudgetAreDenseToTheBit) {
  const LanguageModel model = opened(test::small_llama());
  const std::string spec = "streaming:sinks=4,recent=56;positions=shifted";
  EXPECT_EQ(logits_of(model, spec, 5), logits_of(model, "dense", 5));
}

TEST(Decoder, LearnedInCachePositionsGoOnForever) {
  const LanguageModel model = opened(test::small_gpt2());
  Decoder decoder =
      Decoder::create(model, parse_spec("streaming:sinks=3,recent=4;positions=in-cache").value())
          .value();
  for (TokenId i = 0; i < 200; ++i) ASSERT_TRUE(decoder.feed(std::vector<TokenId>{i % 32}));
  EXPECT_EQ(decoder.seen(), 200U);
}

class Stories : public Test {
 protected:
  void SetUp() override {
    const std::string folder = test::shared_data("stories260K");
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no model at " << folder;
    model_ = open_model(folder + "/stories260K.bin").value();
    tokenizer_ = open_tokenizer(folder + "/stories260K.bin", folder + "/tok512.bin", 512).value();
  }

  // Greedy decoding from BOS until the next BOS.
  std::string greedy(const std::string& spec, const DecoderOptions& options = {}) {
    Decoder decoder = Decoder::create(model_, parse_spec(spec).value(), options).value();
    std::vector<TokenId> tokens = {1};
    while (tokens.size() < 300) {
      EXPECT_TRUE(decoder.feed(std::span(tokens).last(1)));
      const auto logits = decoder.logits();
      const auto next = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
      if (next == 1 || tokens.size() == 257) break;
      tokens.push_back(next);
    }
    return tokenizer_->decode(tokens).value();
  }

  LanguageModel model_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

constexpr std::string_view golden =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. "
    "One day, she saw a big, red ball. She wanted to play with it, but it was too high.\n"
    "Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know what to do. She "
    "said, \"I want to play with your ball, but I can't find it.\"\n"
    "Lily was sad and didn't know what to do. She said, \"I'm sorry, Lily. I didn't know what to "
    "do.\"\n"
    "Lily didn't want to help her mom, so she said, \"I'm sorry, mom. I didn't know what to do.\" "
    "Her mom said, \"Don't worry, Lily. We can help you.\n";

TEST_F(Stories, GreedyTextIsTheGoldenText) {
  const std::string text = greedy("dense");
  EXPECT_EQ(text.substr(0, 464), golden.substr(0, 464));
  EXPECT_EQ(greedy("dense", {.keys = KeyStorage::raw}), text);
}

}  // namespace
}  // namespace kv::model

// Recording, and what the open loop over a recording and the closed loop agree on.
#include "kvcheck/model/run/record.h"

#include <filesystem>

#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/verify.h"

namespace kv::model {
namespace {

using namespace testing;

class Record : public Test {
 protected:
  Record()
      : folder_(test::small_llama_that_reads("record-model")),
        model_(open_model(folder_).value()),
        tokenizer_(open_tokenizer(folder_, "", 258).value()) {
    for (TokenId i = 0; i < 60; ++i) tokens_.push_back(i * i * 7 % 251 + 2);
  }

  Trace recorded(const RecordOptions& options) {
    const std::string path = test::temporary_path("recorded.safetensors");
    const Result<void> done = record(model_, *tokenizer_, tokens_, options, path);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    Trace trace = open_trace(path).value();
    EXPECT_TRUE(verify(trace));
    return trace;
  }

  // In how many units of the decoder each position is resident at the end.
  std::vector<std::uint32_t> kept_by_decoder(const Spec& spec, std::uint64_t seed, bool layer_0) {
    DecoderOptions options{.seed = seed};
    options.token_classes =
        std::make_shared<const std::vector<TokenClass>>(token_classes(*tokenizer_));
    Decoder decoder = Decoder::create(model_, spec, options).value();
    for (std::size_t at = 0; at < tokens_.size(); at += spec.chunk) {
      const std::size_t size = std::min<std::size_t>(spec.chunk, tokens_.size() - at);
      EXPECT_TRUE(decoder.feed(std::span(tokens_).subspan(at, size), Logits::last));
    }
    std::vector<std::uint32_t> kept(tokens_.size());
    for (const ModelUnit& unit : decoder.attention().units()) {
      if (layer_0 && unit.layer > 0) continue;
      const Visible all = unit.cache.all();
      for (Position p = 0; p < all.sinks.last; ++p) ++kept[p];
      for (const Position p : all.middle) ++kept[p];
      for (Position p = all.recent.first; p < all.recent.last; ++p) ++kept[p];
    }
    return kept;
  }

  static std::vector<std::uint32_t> kept_by_replay(const Trace& trace, const Cell& cell) {
    return replay(trace, std::array{cell}, {}).value().cells[0].kept;
  }

  std::string folder_;
  LanguageModel model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<TokenId> tokens_;
};

TEST_F(Record, QkvAndAttentionOfOneRunBelongTogether) {
  const Trace qkv = recorded({.number = Number::f32,
                              .cell = Cell{parse_spec("dense;chunk=7").value(), 1},
                              .source = "a test"});
  EXPECT_EQ(qkv.info().layers.size(), 2U);
  EXPECT_EQ(qkv.info().kv_heads, 2U);
  EXPECT_EQ(qkv.info().rope, model_.config.rope);
  EXPECT_EQ(qkv.info().source, "a test");
  EXPECT_THAT(qkv.token_ids(), ElementsAreArray(tokens_));
  EXPECT_EQ(qkv.transcript().text, tokenizer_->decode(tokens_).value());
  const Trace rows = recorded({.kind = TraceKind::attention, .number = Number::f32});
  // A replay computes rows from q and k, and reads them from the other: the same numbers.
  const Cell cell = {parse_spec("streaming:sinks=2,recent=14").value(), 1};
  const ReplayResult a = replay(qkv, std::array{cell}, {}).value();
  const ReplayResult b = replay(rows, std::array{cell}, {}).value();
  for (std::size_t i = 0; i < a.cells[0].heads.size(); ++i) {
    EXPECT_NEAR(a.cells[0].heads[i].metrics.retained_mass,
                b.cells[0].heads[i].metrics.retained_mass, 1e-5);
  }
}

// Rows of a policed run are over what was left: 0 elsewhere, and replaying the same policy over
// them loses nothing.
TEST_F(Record, UnderAPolicyRowsAreOverWhatItLeft) {
  for (const std::string text :
       {"streaming:sinks=2,recent=9;chunk=5", "reservoir:sinks=1,recent=4,budget=12;unit=head",
        "h2o:recent=4,budget=12;visibility=window;chunk=6"}) {
    const Cell cell = {parse_spec(text).value(), 1};
    const Trace rows =
        recorded({.kind = TraceKind::attention, .number = Number::f32, .cell = cell});
    EXPECT_EQ(policy_recorded(rows.info()), cell.spec.canonical());
    const auto nll = evaluate(model_, cell.spec, std::array{tokens_}, {}).value().nll[0];
    EXPECT_THAT(std::vector<float>(rows.transcript().nll.begin() + 1, rows.transcript().nll.end()),
                ElementsAreArray(nll))
        << text;
    const Cell dense = {parse_spec("dense").value(), 1};
    const ReplayResult again = replay(rows, std::array{cell, dense}, {}).value();
    EXPECT_LT(cell.spec.budget, again.trace.tokens);
    for (const HeadResult& head : again.cells[0].heads) {
      EXPECT_NEAR(head.metrics.retained_mass, 1, 1e-6) << text;
    }
  }
}

TEST_F(Record, AClosedTraceSaysSoWhereverItIsShown) {
  const Cell cell = {parse_spec("window:recent=9").value(), 1};
  const Trace trace = recorded({.number = Number::f32, .cell = cell});
  const std::string path = test::temporary_path("copied.safetensors");
  ASSERT_TRUE(save_trace(trace, path));
  EXPECT_EQ(open_trace(path).value().info().loop, "closed: " + cell.spec.canonical());
  EXPECT_EQ(policy_recorded(recorded({}).info()), "");
}

TEST_F(Record, NllIsTheEvaluations) {
  const Trace trace = recorded({});
  const std::vector<std::vector<TokenId>> streams = {tokens_};
  const auto nll = evaluate(model_, parse_spec("dense").value(), streams, {}).value().nll[0];
  EXPECT_EQ(trace.transcript().nll.front(), 0);
  EXPECT_THAT(std::vector<float>(trace.transcript().nll.begin() + 1, trace.transcript().nll.end()),
              ElementsAreArray(nll));
}

TEST_F(Record, SomeLayersAndHeads) {
  const Trace all = recorded({.number = Number::f32});
  const Trace some = recorded({.number = Number::f32, .layers = {1}, .kv_heads = {1}});
  EXPECT_THAT(some.info().layers, ElementsAre(1));
  EXPECT_EQ(some.info().query_heads, 2U);
  const auto numbers = [](const TensorView& view, std::size_t from, std::size_t count) {
    std::vector<float> values(count);
    kernels().widen(view.number, view.data + 4 * from, count, values.data());
    return values;
  };
  const std::size_t head = tokens_.size() * 4;
  EXPECT_EQ(numbers(some.layer(0).q, 0, 2 * head), numbers(all.layer(1).q, 2 * head, 2 * head));
  EXPECT_EQ(numbers(some.layer(0).k, 0, head), numbers(all.layer(1).k, head, head));
  EXPECT_EQ(numbers(some.layer(0).v, 0, head), numbers(all.layer(1).v, head, head));
}

TEST_F(Record, ContentFreePoliciesKeepTheSameTokensOpenAndClosed) {
  const Trace trace = recorded({.number = Number::f32});
  for (const std::string text :
       {"streaming:sinks=2,recent=9;chunk=5", "reservoir:sinks=1,recent=4,budget=12",
        "reservoir:sinks=1,recent=4,budget=12;unit=layer;timing=lazy:4;chunk=3",
        "reservoir:recent=4,budget=12;unit=model;vectors=kept;chunk=6",
        "reservoir:recent=4,budget=12;unit=head;visibility=window;chunk=6",
        "random:recent=4,budget=12;positions=in-cache;timing=trim-then-attend",
        "token-classes:recent=4,budget=12", "separators:recent=4,budget=12;unit=model;chunk=5"}) {
    const Cell cell = {parse_spec(text).value(), 11};
    EXPECT_EQ(kept_by_decoder(cell.spec, 11, false), kept_by_replay(trace, cell)) << text;
  }
}

TEST_F(Record, AttentionDrivenPoliciesAgreeAtLayer0) {
  const Trace first = recorded({.number = Number::f32, .layers = {0}});
  for (const std::string text :
       {"h2o:recent=4,budget=12", "h2o:sinks=1,recent=4,budget=12;unit=layer;vectors=kept;chunk=5",
        "tova:budget=10;unit=head", "h2o:recent=4,budget=12;unit=head;budgets=adaptive:0.2",
        "tova:recent=2,budget=10;budgets=adaptive:0.5;visibility=window;chunk=6",
        "chunkkv:recent=4,budget=12,length=3;chunk=2",
        "h2o:recent=4,budget=12;visibility=window;chunk=6",
        "h2o:recent=4,budget=12;positions=in-cache"}) {
    const Cell cell = {parse_spec(text).value(), 3};
    EXPECT_EQ(kept_by_decoder(cell.spec, 3, true), kept_by_replay(first, cell)) << text;
  }
}

// What a decoder shows policies of keys, values and queries is what a replay shows them.
TEST_F(Record, PoliciesThatLookAtVectorsAgreeAtLayer0) {
  const Trace first = recorded({.number = Number::f32, .layers = {0}});
  for (const std::string text :
       {"key-norm:recent=4,budget=12", "key-norm:recent=4,budget=12;unit=layer;chunk=5",
        "keydiff:recent=4,budget=12;unit=head;chunk=3", "keydiff:recent=4,budget=12;unit=layer",
        "lagkv:sinks=1,recent=4,budget=12,lag=3;visibility=window;chunk=6",
        "rkv:sinks=1,recent=4,budget=12", "rkv:recent=4,budget=12,lambda=0.5;unit=layer;chunk=5",
        "expected-attention:recent=4,budget=12", "expected-attention:recent=4,budget=12;unit=head",
        "expected-attention:recent=4,budget=12,covariance=full;unit=layer;chunk=4",
        "semantic-blocks:recent=4,budget=12,block=2;timing=lazy:3",
        "reservoir-chao:recent=4,budget=12,weight=value-norm;unit=layer"}) {
    const Cell cell = {parse_spec(text).value(), 3};
    EXPECT_EQ(kept_by_decoder(cell.spec, 3, true), kept_by_replay(first, cell)) << text;
  }
}

TEST_F(Record, APolicyOfWordsNeedsATokenizer) {
  const auto decoder = Decoder::create(model_, parse_spec("separators:budget=12").value(), {});
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().kind, Error::Kind::usage);
  EXPECT_THAT(decoder.error().message, testing::HasSubstr("no tokenizer"));
}

TEST_F(Record, RefusesWhatTheModelOrTheDiskDoesNotHave) {
  const auto error = [&](const RecordOptions& options, const std::string& path) {
    const Result<void> done = record(model_, *tokenizer_, tokens_, options, path);
    return done ? std::string("recorded") : done.error().message;
  };
  const std::string path = test::temporary_path("refused.safetensors");
  EXPECT_EQ(error({.layers = {0, 2}}, path), "the model has no layer 2; expected 0 to 1");
  EXPECT_EQ(error({.kv_heads = {7}}, path), "the model has no kv-head 7; expected 0 to 1");
  EXPECT_THAT(error({}, "/nowhere/at/all"), HasSubstr("cannot create '/nowhere/at/all"));
  model_.config.scaling = {RopeScaling::Kind::linear, 2};
  EXPECT_EQ(error({}, path), "recorded");
  const TraceInfo info = open_trace(path)->info();
  ASSERT_EQ(info.rules.size(), 2U);
  EXPECT_EQ(info.rules[1].frequencies, rope_frequencies(model_.config));
  tokens_[3] = 258;
  EXPECT_THAT(error({.kind = TraceKind::attention}, path + "x"),
              HasSubstr("the text has token 258"));
  EXPECT_FALSE(std::filesystem::exists(path + "x"));
}

TEST_F(Record, ThePublishedModelsRecordingIsReproduced) {
  const std::string folder = test::shared_data("stories260K");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no model at " << folder;
  const Trace known = open_trace(test::shared_data("recorded/stories260k.qkv.safetensors")).value();
  tokens_.assign(known.token_ids().begin(), known.token_ids().end());
  model_ = open_model(folder + "/stories260K.bin").value();
  tokenizer_ = open_tokenizer("", folder + "/tok512.bin", 512).value();
  const Trace trace = recorded({.number = Number::f32});
  const std::size_t count = std::size_t{4} * 512 * 8;
  std::vector<float> found(count);
  std::vector<float> expected(count);
  for (const std::size_t layer : {0U, 4U}) {
    kernels().widen(Number::f32, trace.layer(layer).k.data, count, found.data());
    kernels().widen(Number::f16, known.layer(layer).k.data, count, expected.data());
    // Half a unit in the last place of f16 between 16 and 32.
    EXPECT_THAT(found, Pointwise(FloatNear(8e-3F), expected));
  }
}

}  // namespace
}  // namespace kv::model

// Recording some queries, layer by layer, and continuing a recording that was cut short.
#include <filesystem>
#include <fstream>
#include <limits>

#include "kvcheck/model/run/record.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/verify.h"

namespace kv::model {
namespace {

using namespace testing;

class SampledRecord : public Test {
 protected:
  SampledRecord()
      : folder_(test::small_llama_that_reads("sampled-record-model")),
        model_(open_model(folder_).value()),
        tokenizer_(open_tokenizer(folder_, "", 258).value()),
        path_(test::temporary_path("sampled.safetensors")) {
    for (TokenId i = 0; i < 200; ++i) tokens_.push_back(i * i * 7 % 251 + 2);
  }

  Result<void> try_record(const RecordOptions& options, const Progress& report = {}) {
    return record(model_, *tokenizer_, tokens_, options, path_, report);
  }

  Trace recorded(const RecordOptions& options) {
    const Result<void> done = try_record(options);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    Trace trace = open_trace(path_).value();
    EXPECT_TRUE(verify(trace));
    return trace;
  }

  [[nodiscard]] std::string unfinished() const { return path_ + ".unfinished"; }

  // Chunks of 16, so that there is something to cut.
  [[nodiscard]] RecordOptions of_16() const {
    return {.number = Number::f32,
            .cell = Cell{parse_spec("dense;chunk=16").value(), 1},
            .queries = parse_query_design("6/50,0-9").value()};
  }

  std::string folder_;
  LanguageModel model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string path_;
  std::vector<TokenId> tokens_;
};

std::vector<float> numbers_of(const TensorView& view) {
  std::vector<float> numbers(view.numbers());
  kernels().widen(view.number, view.data, numbers.size(), numbers.data());
  return numbers;
}

TEST_F(SampledRecord, HasTheQueriesOfTheWholeRecordingAndAllKeys) {
  const Trace whole = recorded({.number = Number::f32});
  const Trace some = recorded(of_16());
  const TraceInfo& info = some.info();
  EXPECT_EQ(info.tokens, 200U);
  EXPECT_EQ(text_of(info.query_design.value()), "6/50,0-9");
  EXPECT_EQ(info.queries.size(), 10U + 5 + 3 * 6);
  EXPECT_EQ(some.transcript().nll, whole.transcript().nll);
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    EXPECT_EQ(numbers_of(some.layer(layer).k), numbers_of(whole.layer(layer).k));
    EXPECT_EQ(numbers_of(some.layer(layer).v), numbers_of(whole.layer(layer).v));
    const auto q = numbers_of(some.layer(layer).q);
    const auto all = numbers_of(whole.layer(layer).q);
    const std::size_t dim = info.head_dim;
    for (std::size_t head = 0; head < info.query_heads; ++head) {
      for (std::size_t row = 0; row < info.queries.size(); ++row) {
        for (std::size_t i = 0; i < dim; ++i) {
          ASSERT_EQ(q[(head * info.queries.size() + row) * dim + i],
                    all[(head * 200 + info.queries[row]) * dim + i]);
        }
      }
    }
  }
}

TEST_F(SampledRecord, RowsOfAttentionAreThoseOfItsQueries) {
  RecordOptions options = of_16();
  options.kind = TraceKind::attention;
  const Trace some = recorded(options);
  options.queries.reset();
  const Trace whole = recorded(options);
  EXPECT_EQ(some.layer(0).attention.shape, (std::vector<std::size_t>{4, 33, 200}));
  const auto rows = numbers_of(some.layer(1).attention);
  const auto all = numbers_of(whole.layer(1).attention);
  for (std::size_t row = 0; row < 33; ++row) {
    const std::size_t query = some.info().queries[row];
    for (std::size_t key = 0; key < 200; ++key) {
      ASSERT_EQ(rows[(33 + row) * 200 + key], all[(200 + query) * 200 + key]);
    }
  }
}

TEST_F(SampledRecord, SomeKvHeadsKeepTheNumbersOfTheModel) {
  RecordOptions options = of_16();
  options.kv_heads = {1};
  EXPECT_THAT(recorded(options).info().kv_head_numbers, ElementsAre(1U));
  options.kv_heads = {0, 1};
  EXPECT_THAT(recorded(options).info().kv_head_numbers, IsEmpty());
}

TEST_F(SampledRecord, WithoutLossesLayersAboveTheLastRecordedOneAreNotRun) {
  RecordOptions options = of_16();
  options.layers = {0};
  const auto with = numbers_of(recorded(options).layer(0).q);
  options.losses = false;
  // A number that would make every logit no number, if the layer were run.
  model_.layers[1].before_attention.gain[0] = std::numeric_limits<float>::quiet_NaN();
  const Trace without = recorded(options);
  EXPECT_THAT(without.transcript().nll, IsEmpty());
  EXPECT_EQ(numbers_of(without.layer(0).q), with);
}

// Cut at every place where it can be, and continued: the same bytes as in one go.
TEST_F(SampledRecord, ContinuesToTheSameBytes) {
  RecordOptions options = of_16();
  options.identity = "a run";
  ASSERT_TRUE(try_record(options));
  const std::string whole = test::bytes_of_file(path_);
  EXPECT_FALSE(std::filesystem::exists(unfinished())) << "nothing is left of a complete run";
  std::size_t cuts = 0;
  for (int at = 1; at < 60; at += 4) {
    std::filesystem::remove(path_);
    int calls = 0;
    const auto cut = try_record(options, [&](double) { return ++calls < at; });
    if (cut) break;
    ++cuts;
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_TRUE(std::filesystem::exists(unfinished()));
    int more = 0;
    ASSERT_TRUE(try_record(options, [&](double) { return ++more > 0; }));
    EXPECT_EQ(calls + more, 39) << "what was done before the cut is not done again";
    EXPECT_EQ(test::bytes_of_file(path_), whole) << at;
  }
  EXPECT_GE(cuts, 9U) << "39 chunks: 13 of each layer and of the losses";
}

TEST_F(SampledRecord, SaysHowManyLayersTheModelHas) {
  RecordOptions options = of_16();
  options.layers = {1};
  EXPECT_EQ(recorded(options).info().model_layers, model_.config.layers);
  options.kind = TraceKind::attention;
  EXPECT_EQ(recorded(options).info().model_layers, model_.config.layers);
}

TEST_F(SampledRecord, AnotherRunDoesNotLoseWhatAnEarlierOneDid) {
  RecordOptions options = of_16();
  options.identity = "a run";
  int calls = 0;
  ASSERT_FALSE(try_record(options, [&](double) { return ++calls < 20; }));
  options.identity = "another run";
  EXPECT_THAT(try_record(options).error().message,
              HasSubstr(".unfinished' holds an interrupted recording by another command"));
  options.identity = "a run";
  int more = 0;
  ASSERT_TRUE(try_record(options, [&](double) { return ++more > 0; }));
  EXPECT_EQ(calls + more, 39);
}

TEST_F(SampledRecord, ADamagedNoteBeginsAnew) {
  RecordOptions options = of_16();
  options.identity = "a run";
  ASSERT_TRUE(try_record(options));
  const std::string whole = test::bytes_of_file(path_);
  int calls = 0;
  ASSERT_FALSE(try_record(options, [&](double) { return ++calls < 20; }));
  std::string bytes = test::bytes_of_file(unfinished());
  bytes[16] = static_cast<char>(bytes[16] ^ 1);
  std::ofstream(unfinished(), std::ios::binary) << bytes;
  calls = 0;
  ASSERT_TRUE(try_record(options, [&](double) { return ++calls > 0; }));
  EXPECT_EQ(calls, 39);
  EXPECT_EQ(test::bytes_of_file(path_), whole);
}

// Cut in a layer and among the losses; then a bit is flipped, or the end is lost.
TEST_F(SampledRecord, ADamagedFileNeverBecomesAnotherTrace) {
  RecordOptions options = of_16();
  options.identity = "a run";
  ASSERT_TRUE(try_record(options));
  const std::string whole = test::bytes_of_file(path_);
  for (const int cut : {20, 33}) {
    std::filesystem::remove(path_);
    int calls = 0;
    ASSERT_FALSE(try_record(options, [&](double) { return ++calls < cut; }));
    const std::string good = test::bytes_of_file(unfinished());
    std::size_t found = 0;
    const auto damage = [&](const std::string& bytes) {
      std::filesystem::remove(path_);
      std::ofstream(unfinished(), std::ios::binary) << bytes;
      const auto done = try_record(options);
      if (done) {
        EXPECT_EQ(test::bytes_of_file(path_), whole);
        return;
      }
      ++found;
      EXPECT_THAT(done.error().message, HasSubstr(".unfinished' was changed or damaged"));
      EXPECT_FALSE(std::filesystem::exists(path_));
      std::filesystem::remove(unfinished());
    };
    // So many that some lie in the few numbers of the losses.
    constexpr std::size_t note = 72;
    constexpr std::size_t flips = 600;
    for (std::size_t i = 0; i < flips; ++i) {
      std::string bytes = good;
      const std::size_t at = note + i * (good.size() - note) / flips;
      bytes[at] = static_cast<char>(bytes[at] ^ 64);
      damage(bytes);
    }
    for (const std::size_t part : {1U, 2U, 3U}) damage(good.substr(0, good.size() * part / 4));
    // Numbers that are made anew, and places that hold none, may change.
    EXPECT_GE(found, flips / 3) << cut;
  }
}

TEST_F(SampledRecord, RefusesWhatItCannotContinueOrSelect) {
  RecordOptions options = of_16();
  options.identity = "a run";
  options.kind = TraceKind::attention;
  EXPECT_THAT(try_record(options).error().message, HasSubstr("cannot be resumed"));
  options = of_16();
  options.queries = parse_query_design("0-200").value();
  EXPECT_THAT(try_record(options).error().message,
              HasSubstr("the queries go up to 200, and the text has 200 tokens"));
}

// Layer by layer, in chunks, on two threads, or token by token under a policy that keeps all.
TEST_F(SampledRecord, LayerByLayerIsTokenByToken) {
  const Trace by_layer = recorded({.number = Number::f32});
  const Trace by_token = recorded(
      {.number = Number::f32, .cell = Cell{parse_spec("window:recent=200;chunk=10").value(), 1}});
  const Trace by_two = recorded({.number = Number::f32, .team = std::make_shared<Team>(2)});
  for (const Trace* other : {&by_token, &by_two}) {
    EXPECT_EQ(other->transcript().nll, by_layer.transcript().nll);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(numbers_of(other->layer(layer).q), numbers_of(by_layer.layer(layer).q));
      EXPECT_EQ(numbers_of(other->layer(layer).v), numbers_of(by_layer.layer(layer).v));
    }
  }
}

}  // namespace
}  // namespace kv::model

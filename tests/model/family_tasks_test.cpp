// What can be done with each family: evaluation, generation, recording and the open loop.
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/model/run/trace_rules.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/model/small_families.h"
#include "kvcheck/traces/metadata.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {
namespace {

class NumberTokenizer final : public Tokenizer {
 public:
  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    return std::vector<TokenId>(text.size(), 1);
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> /*previous*/,
                                  TokenId token) const override {
    return std::to_string(token);
  }

  [[nodiscard]] std::size_t vocabulary() const override { return 32; }
};

std::vector<TokenId> text_of(std::size_t tokens) {
  std::vector<TokenId> text;
  for (std::size_t i = 0; i < tokens; ++i) text.push_back(static_cast<TokenId>(i * i * 7 % 31 + 1));
  return text;
}

Result<Trace> recorded(const LanguageModel& model, RecordOptions options, std::size_t tokens) {
  const std::string path = test::fresh_folder("trace") + "/trace.safetensors";
  options.number = Number::f32;
  const auto done = record(model, NumberTokenizer(), text_of(tokens), options, path, {});
  if (!done) return done.error();
  return open_trace(path);
}

// The share of attention that a window of 6 retains.
double replayed_mass(const Trace& trace) {
  Cell cell{.spec = parse_spec("window:budget=6").value()};
  ReplayOptions options;
  options.threads = 1;
  const auto result = replay(trace, std::vector<Cell>{cell}, options).value();
  return reports::means_of(result.cells[0]).retained_mass;
}

// Of all weights of all rows.
float largest_difference(const Trace& vectors, const Trace& rows) {
  const TraceInfo& info = vectors.info();
  const TraceRotations rotations(info, info.tokens);
  const RopeTable none({}, 0);
  float largest = 0;
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    const RopeTable& rope = rotations.table(layer);
    for (std::size_t head = 0; head < info.query_heads; ++head) {
      const auto held =
          std::make_shared<const KeyValues>(vectors, layer, kv_head_of(info, head), rope);
      DenseRows computed(vectors, layer, head, 1, held, rope);
      DenseRows recorded(rows, layer, head, 1, nullptr, none);
      for (Position query = 0; query < info.tokens; ++query) {
        const DenseRow a = computed.load(query).value();
        const DenseRow b = recorded.load(query).value();
        for (std::size_t i = 0; i < a.mass.size(); ++i) {
          largest = std::max(largest, std::abs(a.mass[i] - b.mass[i]));
        }
      }
    }
  }
  return largest;
}

class FamilyTasks : public testing::TestWithParam<std::string> {
 protected:
  LanguageModel model_ = open_model(test::small_family(GetParam()).write("family")).value();
};

TEST_P(FamilyTasks, PerplexityDoesNotDependOnChunksOrOnABudgetThatCoversTheText) {
  const auto nll = [&](const std::string& spec) {
    const std::vector<std::vector<TokenId>> streams = {text_of(40)};
    return evaluate(model_, parse_spec(spec).value(), streams, {}).value().nll;
  };
  const auto dense = nll("dense;chunk=1");
  EXPECT_EQ(nll("dense;chunk=16"), dense);
  EXPECT_EQ(nll("window:budget=64;chunk=5"), dense);
  EXPECT_NE(nll("window:budget=3"), dense);
}

TEST_P(FamilyTasks, RowsOfAttentionAreRecordedAndReplayed) {
  const auto trace = recorded(model_, {.kind = TraceKind::attention}, 24);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_GT(replayed_mass(*trace), 0.05);
}

// A replay computes from vectors the rows that the model had, also where the text is longer than
// windows and first contexts.
TEST_P(FamilyTasks, RowsThatAreComputedFromVectorsAreThoseOfTheModel) {
  for (const std::size_t tokens : {5U, 24U, 60U}) {
    const auto vectors = recorded(model_, {.kind = TraceKind::qkv}, tokens);
    ASSERT_TRUE(vectors) << vectors.error().message;
    const auto rows = recorded(model_, {.kind = TraceKind::attention}, tokens);
    EXPECT_NEAR(replayed_mass(*vectors), replayed_mass(*rows), 2e-6);
    EXPECT_LT(largest_difference(*vectors, *rows), 2e-6);
  }
}

// A reader of version 1 would refuse the word, so traces that such a reader understands lack it.
TEST(TraceRules, SayHowManyLayersTheModelHasWhereAReaderHasToKnowVersion2) {
  const auto layers_of = [](const std::string& family) {
    const auto model = open_model(test::small_family(family).write("family")).value();
    const auto trace = recorded(model, {.kind = TraceKind::qkv}, 24).value();
    return std::pair(trace.info().model_layers, model.config.layers);
  };
  const auto [said, layers] = layers_of("gemma2");
  EXPECT_EQ(said, layers);
  EXPECT_EQ(layers_of("llama").first, 0U);
}

INSTANTIATE_TEST_SUITE_P(All,
                         FamilyTasks,
                         testing::ValuesIn(test::small_family_names()),
                         [](const auto& one) { return one.param; });

LayerRules rules_of_family(const std::string& family, std::size_t layer, std::size_t tokens) {
  const auto config = parse_config(test::small_family(family).config).value();
  TraceInfo info;
  for (std::size_t i = 0; i < config.layers; ++i) info.layers.push_back(i);
  state_attention(config, tokens, info);
  return rules_of(info, layer);
}

TEST(TraceRules, SayWhatALayerDoesAndNothingThatATextIsTooShortFor) {
  EXPECT_GT(rules_of_family("gemma2", 0, 4).cap, 0);
  EXPECT_EQ(rules_of_family("mistral", 0, 8).window, 7U);
  EXPECT_EQ(rules_of_family("mistral", 0, 7).window, 0U);
  EXPECT_EQ(rules_of_family("smollm3", 1, 4).layout, RopeLayout::none);
  EXPECT_EQ(rules_of_family("smollm3", 0, 4).layout, RopeLayout::half);
  EXPECT_TRUE(rules_of_family("smollm3", 0, 4).frequencies.empty());
}

}  // namespace
}  // namespace kv::model

// What can be done with each family: evaluation, generation, recording and the open loop.
#include <numeric>

#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/model/run/trace_limits.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/model/small_families.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

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

// Where vectors suffice, a replay computes from them the rows that the model had.
TEST_P(FamilyTasks, VectorsAreRecordedIfTheySayEverythingAndElseRefused) {
  for (const std::size_t tokens : {5U, 24U}) {
    std::vector<std::size_t> layers(model_.config.layers);
    std::iota(layers.begin(), layers.end(), std::size_t{0});
    const auto suffice = check_vectors_suffice(model_.config, layers, tokens);
    const auto vectors = recorded(model_, {.kind = TraceKind::qkv}, tokens);
    EXPECT_EQ(vectors.has_value(), suffice.has_value());
    if (!suffice) {
      EXPECT_THAT(vectors.error().message, HasSubstr("traces of q/k/v cannot express"));
      continue;
    }
    const auto rows = recorded(model_, {.kind = TraceKind::attention}, tokens);
    EXPECT_NEAR(replayed_mass(*vectors), replayed_mass(*rows), 2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         FamilyTasks,
                         testing::ValuesIn(test::small_family_names()),
                         [](const auto& one) { return one.param; });

std::string said(const std::string& family, std::vector<std::size_t> layers, std::size_t tokens) {
  const auto config = parse_config(test::small_family(family).config).value();
  const auto suffice = check_vectors_suffice(config, layers, tokens);
  return suffice ? "suffice" : suffice.error().message;
}

TEST(TraceLimits, SayWhatVectorsCannotExpress) {
  EXPECT_THAT(said("gemma2", {0}, 4), HasSubstr("this model's soft cap of attention"));
  EXPECT_THAT(said("mistral", {0, 1}, 8), HasSubstr("the window of 7 positions of layer 0"));
  EXPECT_EQ(said("mistral", {0, 1}, 7), "suffice");
  EXPECT_THAT(said("smollm3", {0, 1}, 4), HasSubstr("that layer 1 rotates unlike layer 0"));
  EXPECT_EQ(said("smollm3", {0, 2}, 40), "suffice");
  EXPECT_EQ(said("smollm3", {1}, 9), "suffice");
}

}  // namespace
}  // namespace kv::model

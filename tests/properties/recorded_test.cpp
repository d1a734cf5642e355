// Files of recorded histories: what is read and judged, in parts too, and the sentences that wrong
// files end in.
#include "kvcheck/properties/recorded/judge_file.h"

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/recorded.h"

namespace kv::properties {
namespace {

const std::string head =
    R"({"kvcheck_history":1,"name":"mine","setup":{"layers":2,"sinks":1,"recent":1,"budget":3},)"
    R"("contract":{"visibility":"causal"}})"
    "\n";

std::string fed(std::uint64_t tokens, const std::string& entries) {
  return R"({"do":"feed","tokens":)" + std::to_string(tokens) + R"(,"units":[)" + entries + "]}\n";
}

TEST(RecordedHistory, ReadsWhatWasEvictedInsteadOfWhatIsStored) {
  const std::string text = head + fed(3, R"({"evicted":[],"visible":"causal"})") +
                           fed(1, R"({"layer":0,"evicted":[1],"visible":"causal"},)"
                                  R"({"layer":1,"evicted":[0],"visible":"causal"})");
  const auto report = judged(text);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const LawResult* sinks = result_of(*report, "resident.sinks");
  ASSERT_EQ(sinks->status, Status::broken);
  EXPECT_EQ(sinks->finding->unit, 1U);
  EXPECT_EQ(sinks->finding->event, 1U);
  EXPECT_EQ(result_of(*report, "size.stored")->status, Status::held);
}

TEST(RecordedHistory, DoesNotJudgeMasksThatAreNotStated) {
  const std::string text = head + fed(3, R"({"evicted":[]})") + fed(1, R"({"evicted":[1]})");
  const auto report = judged(text);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->count(Status::broken), 0U);
  EXPECT_EQ(result_of(*report, "visible.self")->status, Status::not_applicable);
  EXPECT_EQ(result_of(*report, "resident.sinks")->status, Status::held);
}

TEST(RecordedHistory, JudgesInPartsWhatDoesNotFitIntoMemory) {
  const std::string entries =
      R"({"layer":0,"evicted":[],"visible":"causal"},{"layer":1,"evicted":[0],"visible":"causal"})";
  const std::string text = head + fed(40, entries);
  JudgeOptions small;
  small.bytes = 20'000;
  for (const JudgeOptions& options : {JudgeOptions(), small}) {
    const auto report = judged(text, options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    const LawResult* sinks = result_of(*report, "resident.sinks");
    ASSERT_EQ(sinks->status, Status::broken) << options.bytes;
    EXPECT_EQ(sinks->finding->unit, 1U);
    EXPECT_THAT(where_of(*sinks), testing::HasSubstr("layer 1"));
    EXPECT_EQ(sinks->recorded_at, "run.jsonl, line 2");
  }
}

TEST(RecordedHistory, SlicesBudgetsOfLayersForTheParts) {
  const std::string layers =
      R"({"kvcheck_history":1,"setup":{"layers":2},)"
      R"("contract":{"sinks":0,"recent":1,"budgets":[2,9],"visibility":"causal"}})"
      "\n";
  const std::string right = fed(1, R"({"layer":0,"evicted":[0]},{"layer":1,"evicted":[]})");
  const std::string wrong = fed(1, R"({"layer":0,"evicted":[]},{"layer":1,"evicted":[0]})");
  const std::string begin = layers + fed(2, R"({"evicted":[]})");
  for (const std::uint64_t bytes : {std::uint64_t{1} << 20U, std::uint64_t{2'000}}) {
    JudgeOptions options;
    options.bytes = bytes;
    EXPECT_EQ(judged(begin + right, options)->count(Status::broken), 0U) << bytes;
    const auto report = judged(begin + wrong, options);
    EXPECT_EQ(result_of(*report, "size.stored")->status, Status::broken) << bytes;
    EXPECT_EQ(result_of(*report, "size.stored")->finding->unit, 0U) << bytes;
  }
}

TEST(RecordedHistory, SaysWhereTheMemoryEnded) {
  JudgeOptions options;
  const std::string text = head + fed(3, R"({"evicted":[]})") + fed(1, R"({"evicted":[1]})") +
                           fed(1000, R"({"evicted":[]})");
  options.bytes = 4'000;
  const auto cut = judged(text, options);
  EXPECT_EQ(result_of(*cut, "resident.sinks")->status, Status::held);
  EXPECT_THAT(result_of(*cut, "resident.sinks")->why, testing::HasSubstr("held up to line 4"));
  EXPECT_EQ(judged(text)->count(Status::broken) > 0, true);
  options.bytes = 100;
  const auto starved = judged(text, options);
  EXPECT_EQ(starved->count(Status::held), 0U);
  EXPECT_EQ(result_of(*starved, "resident.sinks")->why,
            "line 2 alone needs more than the memory; give it more --memory");
}

TEST(RecordedHistory, LawsThatNeedFurtherCallsAreNotApplicable) {
  const auto report = judged(head + fed(3, R"({"evicted":[]})"));
  for (const LawResult& result : report->laws) {
    if (is_judge(*result.law) || result.law->id == "reference.model") continue;
    EXPECT_EQ(result.status, Status::not_applicable) << result.law->id;
    EXPECT_FALSE(result.why.empty()) << result.law->id;
  }
  EXPECT_THAT(result_of(*report, "operation.determinism")->why,
              testing::HasSubstr("needs further calls"));
  EXPECT_EQ(result_of(*report, "resident.sinks")->why, "no run showed an eviction");
}

TEST(RecordedHistory, MayBeJudgedByAnotherContract) {
  const std::string text = head + fed(3, R"({"evicted":[]})") + fed(1, R"({"evicted":[0]})");
  EXPECT_EQ(result_of(*judged(text), "resident.sinks")->status, Status::broken);
  JudgeOptions options;
  options.redeclared.fields = {{"sinks", "0"}};
  EXPECT_EQ(result_of(*judged(text, options), "resident.sinks")->status, Status::not_applicable);
  options.redeclared = {.spec = std::make_shared<const Spec>(
                            *parse_spec("window:recent=3,budget=3;visibility=causal"))};
  const auto window = judged(text, options);
  ASSERT_TRUE(window.has_value()) << window.error().message;
  EXPECT_EQ(window->contract.sinks, 0U);
  EXPECT_EQ(window->count(Status::broken), 0U);
}

std::string head_with(const std::string& fields, std::uint32_t heads = 1) {
  return R"({"kvcheck_history":1,"setup":{"kv_heads":)" + std::to_string(heads) + "}," + fields +
         "}\n";
}

TEST(RecordedHistory, NamesTheLineAndTheFieldThatAreWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "has no run"},
      {"{}\n", "line 1: expected the head of a run"},
      {head + "no\n", "line 2: this is not a line of JSON"},
      {head + fed(1, R"({"layer":0,"stored":[0]})"), "line 2: call: says nothing of sequence 0, "},
      {head + fed(1, R"({"evicted":[7]})"), "line 2: call.units[0].evicted[0]: token 7 is evicted"},
      {head + fed(1, R"({"layer":2,"stored":[0]})"), "line 2: call.units[0].layer: expected"},
      {head + fed(1, R"({"sored":[0]})"), "line 2: call.units[0]: unknown field 'sored'"},
      {head + fed(9'999'999, "{}"), "line 2: call.tokens: expected a number of tokens"},
      {head + R"({"do":"eat"})" + "\n", "line 2: call.do: unknown call 'eat'"},
      {head + fed(1, "{}") + R"({"do":"reset"})" + "\n",
       "line 3: call: says nothing of sequence 0"},
      {head_with(R"("contract":{"claims":["constant-size"],"keeps_fewer":true})"),
       "line 1: head: the contract claims constant-size and declares keeps-fewer"},
      {head_with(R"("contract":{"claims":["constant-sized"]})"),
       "line 1: contract.claims[0]: unknown claim"},
      {head_with(R"("contract":{"budgets":[1]})", 4'000'000'000U),
       "line 1: head: no size may be above 65536"},
  };
  for (const auto& [text, sentence] : wrong) {
    const auto report = judged(text);
    ASSERT_FALSE(report.has_value()) << text;
    EXPECT_THAT(report.error().message, testing::HasSubstr(sentence)) << text;
  }
}

}  // namespace
}  // namespace kv::properties

#include "kvcheck/reports/hypotheses/hypothesis.h"

#include "kvcheck/reports/hypotheses/decide.h"

namespace kv::reports {
namespace {

using testing::HasSubstr;

std::string one(const std::string& condition) {
  return R"({"hypotheses": [{"hypothesis": "It holds.", "conditions": [)" + condition + "]}]}";
}

std::string error_of(const std::string& json) {
  const auto parsed = parse_hypotheses(json, "said.json");
  return parsed ? "none" : parsed.error().message;
}

TEST(Hypotheses, AreReadWithAllThatTheySay) {
  const auto parsed = parse_hypotheses(
      R"({"hypotheses": [{"hypothesis": "A.", "source": "S.", "note": "N.", "conditions": [
        {"about": "uncut", "results": "run.db", "measure": "perplexity", "window": 0,
         "of": "window", "against": "streaming", "ratio": {"above": 1, "below": 1.5}},
        {"results": "run.db", "measure": "loss", "of": "h2o", "spread": true, "mean": {"below": 2}},
        {"results": "run.db", "measure": "retained_mass", "layer": 3, "of": "h2o",
         "mean": {"below": 2}},
        {"results": "laws.jsonl", "law": "attention.permutation"}]}]})",
      "said.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 1U);
  const Hypothesis& hypothesis = parsed->front();
  EXPECT_EQ(hypothesis.source, "S.");
  EXPECT_EQ(hypothesis.note, "N.");
  ASSERT_EQ(hypothesis.conditions.size(), 4U);
  const Condition& ratio = hypothesis.conditions[0];
  EXPECT_EQ(ratio.quantity, Quantity::ratio);
  EXPECT_EQ(ratio.window, std::optional<std::size_t>(0));
  EXPECT_EQ(ratio.bounds, (Bounds{.above = 1, .below = 1.5}));
  EXPECT_TRUE(hypothesis.conditions[1].spread);
  EXPECT_EQ(hypothesis.conditions[2].layer, std::optional<std::size_t>(3));
  EXPECT_EQ(hypothesis.conditions[3].of, "attention.permutation");
  const auto again = parse_hypotheses(hypotheses_json(*parsed), "again");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *parsed);
}

TEST(Hypotheses, WrongFilesAreAnsweredWithTheField) {
  EXPECT_THAT(error_of("{\n\"hypotheses\": [,"), HasSubstr("'said.json' is not JSON in line 2"));
  EXPECT_THAT(error_of("{}"), HasSubstr("\"hypotheses\" is missing"));
  EXPECT_THAT(error_of(R"({"hypotheses": []})"), HasSubstr("hypotheses: the list is empty"));
  EXPECT_THAT(error_of(one("")), HasSubstr("conditions: the list is empty"));
  EXPECT_THAT(error_of(R"({"hypothesis": "A."})"), HasSubstr("'hypothesis'"));
  const std::string start = R"({"results": "run.db", "measure": "loss", "of": "h2o", )";
  EXPECT_THAT(
      error_of(one(start + R"("nothing": 1, "mean": {"above": 1}})")),
      HasSubstr("there are about, results, measure, of, spread, window, length, layer, mean)"));
  EXPECT_THAT(error_of(one(start + R"("mean": {}})")), HasSubstr("mean: expected above, below"));
  EXPECT_THAT(error_of(one(start + R"("mean": {"above": 1, "below": 1}})")),
              HasSubstr("no value is above 1 and below 1"));
  EXPECT_THAT(error_of(one(start + R"("mean": {"above": null}})")), HasSubstr("expected above"));
  EXPECT_THAT(error_of(one(start + R"("mean": {"abov": 1}})")), HasSubstr("'above'"));
  EXPECT_THAT(error_of(one(start + R"("difference": {"above": 1}})")),
              HasSubstr("\"against\" is missing"));
  EXPECT_THAT(error_of(one(start + R"("against": "tova", "mean": {"above": 1}})")),
              HasSubstr("'against'"));
  EXPECT_THAT(error_of(one(R"({"results": "run.db", "of": "h2o"})")),
              HasSubstr("expected one of mean, difference, ratio, growth, law and uniform"));
  EXPECT_THAT(error_of(one(start + R"("mean": {"above": 1}, "law": "x"})")),
              HasSubstr("one of mean and law, found both"));
  EXPECT_THAT(error_of(one(R"({"results": "run.db", "measure": "los", "of": "h2o",
                               "mean": {"above": 1}})")),
              HasSubstr("'loss'"));
  EXPECT_THAT(error_of(one(R"({"results": "run.db", "measure": "perplexity", "of": "h2o",
                               "against": "tova", "difference": {"above": 1}})")),
              HasSubstr("by their ratio"));
  EXPECT_THAT(error_of(one(R"({"results": "a.jsonl", "law": "x", "measure": "loss"})")),
              HasSubstr("'measure'"));
  EXPECT_THAT(error_of(one(start + R"("growth": {"above": 1}})")), HasSubstr("measure of timings"));
  EXPECT_THAT(error_of(one(start + R"("length": 9, "mean": {"above": 1}})")),
              HasSubstr("only timings"));
  EXPECT_THAT(error_of(one(start + R"("layer": 9, "mean": {"above": 1}})")),
              HasSubstr("only replays have layers"));
  EXPECT_THAT(error_of(one(R"({"results": "r", "measure": "retained_mass", "of": "h2o", "window": 9,
                               "mean": {"above": 1}})")),
              HasSubstr("only evaluations"));
  EXPECT_THAT(error_of(one(R"({"results": "r", "measure": "perplexity", "of": "h2o",
                               "spread": true, "mean": {"above": 1}})")),
              HasSubstr("no spread"));
  EXPECT_THAT(error_of(one(R"({"results": "r", "measure": "token_s", "of": "h2o",
                               "spread": true, "growth": {"above": 1}})")),
              HasSubstr("no spread"));
  EXPECT_THAT(error_of(one(start + R"("window": -1, "mean": {"above": 1}})")), HasSubstr("window"));
}

// An interval decides only if all of it lies on one side of each bound.
TEST(Hypotheses, VerdictsAreOfTheWholeInterval) {
  const Interval value{.mean = 2, .low = 1, .high = 3};
  EXPECT_EQ(verdict_on(value, {.above = 0.9}), Verdict::holds);
  EXPECT_EQ(verdict_on(value, {.above = 1}), Verdict::undecided);
  EXPECT_EQ(verdict_on(value, {.above = 2}), Verdict::undecided);
  EXPECT_EQ(verdict_on(value, {.above = 3}), Verdict::fails);
  EXPECT_EQ(verdict_on(value, {.below = 3.1}), Verdict::holds);
  EXPECT_EQ(verdict_on(value, {.below = 3}), Verdict::undecided);
  EXPECT_EQ(verdict_on(value, {.below = 1}), Verdict::fails);
  EXPECT_EQ(verdict_on(value, {.above = 0, .below = 4}), Verdict::holds);
  EXPECT_EQ(verdict_on(value, {.above = 0, .below = 2}), Verdict::undecided);
  EXPECT_EQ(verdict_on(value, {.above = 4, .below = 5}), Verdict::fails);
  EXPECT_EQ(verdict_on(Interval{.mean = 2}, {.above = 0}), Verdict::undecided);
}

TEST(Hypotheses, HoldIfAllConditionsDo) {
  const auto verdict = [](const std::vector<Verdict>& verdicts) {
    std::vector<DecidedCondition> conditions;
    for (const Verdict one : verdicts) conditions.push_back({.condition = {}, .verdict = one});
    return verdict_on(conditions);
  };
  EXPECT_EQ(verdict({Verdict::holds, Verdict::holds}), Verdict::holds);
  EXPECT_EQ(verdict({Verdict::holds, Verdict::fails}), Verdict::in_part);
  EXPECT_EQ(verdict({Verdict::fails, Verdict::fails}), Verdict::fails);
  EXPECT_EQ(verdict({Verdict::fails, Verdict::undecided}), Verdict::fails);
  EXPECT_EQ(verdict({Verdict::fails, Verdict::undecided, Verdict::holds}), Verdict::in_part);
  EXPECT_EQ(verdict({Verdict::holds, Verdict::undecided}), Verdict::undecided);
}

}  // namespace
}  // namespace kv::reports

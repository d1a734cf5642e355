#include "kvcheck/base/text/json_line.h"

namespace kv {
namespace {

constexpr std::string_view plan = R"({
  "detail": "series", "note": "a \"brace\" { and \\",
  "replay": {
    "traces": ["a", "b"],
    "policies": [
      "h2o",
      {"x": [1, [2, 3]], "y": -1.5e3},
      "tova"
    ],
    "seeds": 3,
    "top-k":
      16
  }
}
)";

TEST(JsonLine, IsThatOfTheValue) {
  EXPECT_EQ(json_line(plan, "plan"), 1U);
  EXPECT_EQ(json_line(plan, "plan.detail"), 2U);
  EXPECT_EQ(json_line(plan, "plan.replay"), 3U);
  EXPECT_EQ(json_line(plan, "plan.replay.traces[1]"), 4U);
  EXPECT_EQ(json_line(plan, "plan.replay.policies"), 5U);
  EXPECT_EQ(json_line(plan, "plan.replay.policies[0]"), 6U);
  EXPECT_EQ(json_line(plan, "plan.replay.policies[1].y"), 7U);
  EXPECT_EQ(json_line(plan, "plan.replay.policies[2]"), 8U);
  EXPECT_EQ(json_line(plan, "plan.replay.seeds"), 10U);
  EXPECT_EQ(json_line(plan, "plan.replay.top-k"), 12U);
  EXPECT_EQ(json_line("\n\n [[1,\n2],\n[3]]", "list[1][0]"), 5U);
}

TEST(JsonLine, IsThatOfWhatLacksTheFieldOrTheElement) {
  EXPECT_EQ(json_line(plan, "plan.replay.budgets"), 3U);
  EXPECT_EQ(json_line(plan, "plan.replay.budgets[3]"), 3U);
  EXPECT_EQ(json_line(plan, "plan.replay.policies[3]"), 5U);
  EXPECT_EQ(json_line(plan, "plan.replay.seeds[2]"), 10U);
  EXPECT_EQ(json_line(plan, "plan.replay.seeds.of"), 10U);
  EXPECT_EQ(json_line("", "plan.replay"), 1U);
  EXPECT_EQ(json_line("{}", "plan.[["), 1U);
}

std::string lined(const std::string& message) {
  return with_line(malformed(message), plan, "p.json").message;
}

TEST(JsonLine, IsAddedToAnErrorThatNamesAField) {
  EXPECT_EQ(lined("'p.json': plan.replay.seeds: expected a number, found x"),
            "'p.json', line 10: plan.replay.seeds: expected a number, found x");
  EXPECT_EQ(lined("'p.json': plan.replay: unknown field 'top-k'; did you mean"),
            "'p.json', line 12: plan.replay: unknown field 'top-k'; did you mean");
  for (const std::string other :
       {"'p.json': none of its cells can run; why", "'q.json': plan.replay: why",
        "'p.json': ", "'p.json': plan", "no memory"}) {
    EXPECT_EQ(lined(other), other);
  }
}

}  // namespace
}  // namespace kv

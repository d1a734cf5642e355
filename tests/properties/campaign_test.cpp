#include "kvcheck/properties/battery/campaign.h"

#include <algorithm>
#include <map>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// The tokens of the long cases among the first `cases`, and how many calls feed them.
struct LongCases {
  std::size_t count = 0;
  std::uint64_t most_tokens = 0;
  std::size_t most_calls = 0;
  std::uint32_t largest_budget = 0;
};

LongCases long_cases(Level level, std::uint64_t from, std::uint64_t to, std::string_view law) {
  const auto family = make_spec_family(*parse_spec("random:sinks=1,recent=3,budget=8"));
  BatteryOptions options;
  options.effort.level = level;
  const Campaign campaign(*family, options, {find_law("operation.determinism")});
  LongCases seen;
  for (std::uint64_t i = from; i < to; ++i) {
    const Case what = campaign.case_of(law.empty() ? Board::pool : 0, i).value();
    if (what.tokens() < 120) continue;
    ++seen.count;
    seen.most_tokens = std::max(seen.most_tokens, what.tokens());
    seen.most_calls = std::max(seen.most_calls, what.calls.size());
    seen.largest_budget = std::max(seen.largest_budget, what.setup.budget);
  }
  return seen;
}

TEST(Campaign, MeetsLongStreamsAndLargeBudgetsAtTheQuickLevel) {
  const CaseCounts quick = case_counts(Level::quick, 0);
  const LongCases pool = long_cases(Level::quick, 0, quick.pool, "");
  EXPECT_EQ(pool.count, 6U);
  EXPECT_GE(pool.most_tokens, 1030U);
  EXPECT_GE(pool.most_calls, 257U);  // a counter of calls in eight bits
  EXPECT_GE(pool.largest_budget, 127U);
  const LongCases relation = long_cases(Level::quick, 0, quick.relation, "operation.determinism");
  EXPECT_EQ(relation.count, 4U);
  EXPECT_GE(relation.most_tokens, 512U);
  EXPECT_GE(relation.largest_budget, 127U);
}

TEST(Campaign, LongCasesGrowWithTheLevel) {
  const LongCases full = long_cases(Level::full, 300, 600, "");
  EXPECT_EQ(full.count, 6U);
  EXPECT_GE(full.most_tokens, 2048U);
  EXPECT_GE(full.most_calls, 1000U);
  EXPECT_GE(full.largest_budget, 255U);
  const LongCases nightly = long_cases(Level::nightly, 3000, 3300, "");
  EXPECT_EQ(nightly.count, 6U);
  EXPECT_GE(nightly.most_tokens, 32768U);
  EXPECT_GE(nightly.most_calls, 2000U);
  EXPECT_EQ(long_cases(Level::quick, 300, 600, "").count, 0U);
}

}  // namespace
}  // namespace kv::properties

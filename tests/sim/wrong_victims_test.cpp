// A policy that names no legal victims may be a user's: the cache says so, and a replay of it is an
// error that names the policy instead of a result.
#include <memory>

#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/policies/fixed_victims.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

void feed(UnitCache& cache, int tokens) {
  for (int token = 0; token < tokens; ++token) {
    cache.begin_chunk(1);
    cache.next_query();
    cache.end_chunk();
  }
}

template <std::size_t... victims>
std::string broken_by() {
  UnitCache cache(fixed_victims<victims...>(), std::make_unique<CounterDraws>(Rng(1)));
  feed(cache, 6);
  return cache.broken_promise();
}

TEST(WrongVictims, NameTheirPolicy) {
  EXPECT_THAT(broken_by<0>(), IsEmpty());
  EXPECT_EQ(broken_by<>(),
            "policy 'fixed' names victims that are none: found only 0; expected "
            "at least 1 in increasing order, below the 4 candidates");
  EXPECT_THAT((broken_by<2, 1>()), HasSubstr("found 2 and then 1; expected at least 1"));
  EXPECT_THAT((broken_by<1, 1>()), HasSubstr("found 1 and then 1; expected at least 1"));
  EXPECT_THAT((broken_by<0, 4>()), HasSubstr("found 4; expected at least 1"));
}

TEST(WrongVictims, LeaveACacheThatKeepsItsBudgetAndRemembers) {
  UnitCache cache(fixed_victims<>(), std::make_unique<CounterDraws>(Rng(1)));
  feed(cache, 20);
  EXPECT_EQ(cache.residents(), 4U);
  EXPECT_EQ(cache.all().position_of(0), 16U) << "the oldest are evicted instead";
  const UnitCache copy = cache.fork(std::make_unique<CounterDraws>(Rng(1)));
  EXPECT_EQ(copy.broken_promise(), cache.broken_promise());
}

Result<ReplayResult> replayed(const Spec& spec) {
  const Trace trace = attention_trace({.tokens = 20}, [](auto, auto, auto, auto) { return 1.0; });
  const std::vector<Cell> cells = {{parse_spec("fifo:budget=4").value(), 1}, {spec, 1}};
  return replay(trace, cells, {});
}

TEST(WrongVictims, MakeAReplayAnError) {
  EXPECT_TRUE(replayed(fixed_victims<0>()));
  const Result<ReplayResult> result = replayed(fixed_victims<2, 1>());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::malformed);
  EXPECT_THAT(result.error().message,
              HasSubstr("policy 'fixed' names victims that are none: found 2 and then 1"));
}

TEST(WrongScores, MakeAReplayAnError) {
  Spec spec = fixed_victims<0>();
  spec.budgets = {.law = Budgets::Law::adaptive, .alpha = 200};
  const Result<ReplayResult> result = replayed(spec);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("policy 'fixed' gives 2 scores of "));
}

}  // namespace
}  // namespace kv

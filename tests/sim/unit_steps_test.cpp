#include "kvcheck/sim/steps/unit_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

constexpr std::size_t tokens = 72;
constexpr std::size_t plenty = 1 << 20;

Trace trace_of() {
  return random_qkv_trace({.tokens = tokens, .layers = 3});
}

Cell cell_of(std::string_view text) {
  return {parse_spec(text).value(), 5};
}

// Calls `check` with what a replay recorded of each unit and with the unit's steps.
template <typename Check>
void for_each_unit(std::string_view text, const Check& check) {
  SCOPED_TRACE(std::string(text));
  const Trace trace = trace_of();
  const Cell cell = cell_of(text);
  const CellResult whole = replay(trace, {&cell, 1}, {}).value().cells.front();
  ASSERT_FALSE(whole.residency.empty());
  for (const Residency& recorded : whole.residency) {
    const auto steps = unit_steps(trace, whole.cell, recorded.layer, recorded.head, plenty);
    ASSERT_TRUE(steps) << steps.error().message;
    check(whole, recorded, *steps);
  }
}

// The positions that the query sees.
std::vector<Position> seen_by(const Residency& unit, Position query) {
  std::vector<Position> seen;
  for (Position p = 0; p <= query; ++p) {
    if (unit.evicted_at[p] > query) seen.push_back(p);
  }
  return seen;
}

const std::vector<std::string>& specs() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> texts = {
        "h2o:sinks=2,recent=6,budget=16;timing=lazy:5;chunk=4",
        "tova:sinks=2,recent=6,budget=16;timing=trim-then-attend;positions=in-cache",
        "random:sinks=1,recent=4,budget=12;visibility=window;timing=trim-then-attend;chunk=8",
        "h2o:sinks=1,recent=4,budget=12;unit=layer",
        "h2o:sinks=1,recent=4,budget=12;unit=model",
        "h2o:sinks=1,recent=4,budget=12;unit=head",
        "h2o:sinks=2,recent=4,budget=16;budgets=adaptive:0.2",
        "dense;visibility=top-pages:16/4/1"};
    for (const PolicyEntry& entry : policy_registry()) {
      // Memory traces have no text, and no trace has a repetition of its prompt.
      if (entry.name == "token-classes" || entry.name == "separators") continue;
      if (entry.name == "kvzip") continue;
      const bool bounded = entry.protection.middle != Protection::Middle::unbounded;
      texts.push_back(std::string(entry.name) + (bounded ? ":budget=24" : ""));
    }
    return texts;
  }();
  return all;
}

TEST(UnitSteps, EvictTheTokensThatTheReplayEvicts) {
  for (const std::string& text : specs()) {
    for_each_unit(text, [](const CellResult&, const Residency& recorded, const UnitSteps& steps) {
      EXPECT_EQ(steps.residency.evicted_at, recorded.evicted_at);
      EXPECT_EQ(steps.residency.layer, recorded.layer);
      EXPECT_EQ(steps.residency.head, recorded.head);
    });
  }
}

TEST(UnitSteps, HaveARowOverTheVisibleTokensOfEachQuery) {
  for (const std::string& text : specs()) {
    for_each_unit(text, [&](const CellResult&, const Residency& unit, const UnitSteps& steps) {
      if (text.starts_with("dense;visibility=top-pages")) {
        EXPECT_TRUE(steps.mass.empty());
        return;
      }
      std::size_t at = 0;
      for (Position query = 0; query < tokens; ++query) {
        const std::size_t size = seen_by(unit, query).size();
        ASSERT_LE(at + size, steps.mass.size());
        const auto row = std::span(steps.mass).subspan(at, size);
        ASSERT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-4) << query;
        at += size;
      }
      EXPECT_EQ(at, steps.mass.size());
    });
  }
}

TEST(UnitSteps, GiveEachStoredTokenASlotOfItsOwn) {
  for (const std::string& text : specs()) {
    for_each_unit(text, [](const CellResult&, const Residency& unit, const UnitSteps& steps) {
      ASSERT_EQ(steps.slots.size(), tokens);
      for (Position query = 0; query < tokens; ++query) {
        std::set<Slot> slots;
        const std::vector<Position> seen = seen_by(unit, query);
        for (const Position p : seen) slots.insert(steps.slots[p]);
        ASSERT_EQ(slots.size(), seen.size()) << "query " << query;
      }
    });
  }
}

TEST(UnitSteps, NameTheVictimsOfEachDecisionWithTheLowestScores) {
  std::size_t scored = 0;
  for (const std::string& text : specs()) {
    for_each_unit(text, [&](const CellResult&, const Residency& unit, const UnitSteps& steps) {
      // Keyformer scores with noise of its own at every decision, and chunks leave as wholes.
      const bool by_score = text.starts_with("h2o") || text.starts_with("tova");
      for (const Decision& one : steps.decisions) {
        EXPECT_GT(one.candidates, one.victims.size());
        double highest = -std::numeric_limits<double>::infinity();
        for (const ScoredPosition& victim : one.victims) {
          EXPECT_EQ(unit.evicted_at[victim.position], one.seen);
          if (!std::isnan(victim.score)) highest = std::max(highest, victim.score);
        }
        EXPECT_TRUE(std::ranges::is_sorted(one.next, {}, &ScoredPosition::score));
        EXPECT_TRUE(one.next.empty() ||
                    one.next.size() ==
                        std::min<std::size_t>(8, one.candidates - one.victims.size()));
        for (const ScoredPosition& kept : one.next) {
          EXPECT_TRUE(unit.evicted_at[kept.position] >= one.seen);
          if (by_score) {
            EXPECT_GE(kept.score, highest);
          }
          ++scored;
        }
      }
    });
  }
  EXPECT_GT(scored, 1000U);
}

TEST(UnitSteps, RetainWhatTheHeadsRetain) {
  for (const char* const text : {"h2o:budget=16", "window:budget=16", "tova:budget=16;chunk=4"}) {
    for_each_unit(text, [](const CellResult& whole, const Residency& unit, const UnitSteps& steps) {
      double heads = 0;
      double sum = 0;
      for (const HeadResult& head : whole.heads) {
        // Two query heads read each kv-head of the trace.
        if (head.layer != unit.layer || head.head / 2 != unit.head / 2) continue;
        sum += head.metrics.retained_mass;
        ++heads;
      }
      ASSERT_EQ(heads, 2);
      const double mean =
          std::accumulate(steps.retained.begin(), steps.retained.end(), 0.0) / tokens;
      EXPECT_NEAR(mean, sum / heads, 1e-6);
    });
  }
}

TEST(UnitSteps, KeepNoAttentionThatIsTooMuch) {
  const Trace trace = trace_of();
  const auto steps = unit_steps(trace, cell_of("window:budget=8"), 1, 0, 100);
  ASSERT_TRUE(steps);
  EXPECT_TRUE(steps->mass.empty());
  EXPECT_EQ(steps->slots.size(), tokens);
}

TEST(UnitSteps, RefuseAHeadAtWhichNoUnitBegins) {
  const auto steps = unit_steps(trace_of(), cell_of("window:budget=8"), 1, 1, plenty);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().message,
            "'memory' has no cache of 'window' that begins at layer 1, head 1");
}

}  // namespace
}  // namespace kv

// The parts of an explorer's data: what the first view needs of them, and how large they are.
#include <array>
#include <cmath>
#include <span>

#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/explorer/telling_cache.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/large_run.h"

namespace kv::reports {
namespace {

// A replay of one layer with two heads, whose specs are `dense`, `window` and `h2o`.
ReplayResult three_specs() {
  return testing::fake_replay({.tokens = 40,
                               .layers = 1,
                               .heads = 2,
                               .specs = {"dense", "window", "h2o:sinks=4"},
                               .budgets = {12},
                               .seeds = {1},
                               .values = true});
}

ExplorerSteps steps_with(std::size_t cell, std::size_t head, double score) {
  ExplorerSteps steps;
  steps.cell = cell;
  steps.head = head;
  steps.decisions = {{.seen = 13, .candidates = 8, .victims = {{0, score}}, .next = {}}};
  return steps;
}

void expect_telling(const ReplayResult& result,
                    const ExplorerTrace* own,
                    std::size_t cell,
                    std::size_t unit) {
  const TellingCache found = telling_cache(result, own);
  EXPECT_EQ(found.cell, cell);
  EXPECT_EQ(found.unit, unit);
}

TEST(TellingCache, ShowsScoresBeforeOtherSelectionsBeforeAnyEvictions) {
  ReplayResult result = three_specs();
  expect_telling(result, nullptr, 2, 0);
  ExplorerTrace own;
  own.steps = {steps_with(1, 1, std::nan("")), steps_with(2, 1, std::nan(""))};
  expect_telling(result, &own, 2, 1);
  own.steps[0].decisions[0].victims[0].score = 0.5;
  expect_telling(result, &own, 1, 1);
  result.cells[2].residency.clear();
  expect_telling(result, nullptr, 1, 0);
  result.cells[1].residency.clear();
  expect_telling(result, nullptr, 0, 0);
}

TEST(ExplorerParts, TheFirstViewNeedsThoseOfOneCacheAndTheWords) {
  StoredRun run;
  run.traces = {three_specs(), three_specs()};
  // Of two traces, only the first one that has recorded caches is shown first.
  run.traces[1].trace.checksum += 1;
  ExplorerTrace own;
  own.checksum = run.traces[0].trace.checksum;
  own.steps = {steps_with(1, 0, 0.5), steps_with(2, 0, 0.5), steps_with(2, 1, 0.5)};
  for (std::int64_t i = 1; i <= 40; ++i) own.transcript.text_ends.push_back(i);
  own.transcript.text.assign(40, 'a');
  const ExplorerData data = explorer_data(run, std::array{own});
  std::vector<std::size_t> opened;
  for (std::size_t i = 0; i < data.parts.size(); ++i) {
    if (data.parts[i].opened) opened.push_back(i);
  }
  // dense: its lifetimes (0); window: arrays (1), decisions (2) and lifetimes (3); h2o: those of
  // two units (4 to 7) and lifetimes (8); then the words (9), and three cells of the second trace.
  EXPECT_THAT(opened, ::testing::ElementsAre(1, 2, 3, 9));
  EXPECT_EQ(data.parts.size(), 13U);
}

// The requirement: 4,096 tokens, 24 heads and 8 policies in 15 MB.
TEST(ExplorerParts, ALargeRunHasAPageOfLessThanFifteenMegabytes) {
  const testing::LargeRun large = testing::large_run();
  const std::string page = testing::taken(explorer_page(large.run, std::span(&large.trace, 1)));
  EXPECT_LT(page.size(), 15'000'000U);
  // A page that lacked the steps would be small too.
  EXPECT_GT(page.size(), 8'000'000U);
  const std::string bare = testing::taken(explorer_page(large.run, {}));
  EXPECT_LT(bare.size(), 2'500'000U);
}

}  // namespace
}  // namespace kv::reports

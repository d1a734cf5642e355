// Cells of which only a summary is kept have the numbers of whole cells.
#include <algorithm>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

ReplayResult with_bounds() {
  ReplayResult result = testing::fake_replay(small_fake());
  for (CellResult& cell : result.cells) {
    for (const UnitResult& unit : cell.units) {
      cell.bounds.push_back({.layer = unit.layer,
                             .head = unit.head,
                             .heads = 1,
                             .optimum = 0.97 - 0.01 * static_cast<double>(unit.head),
                             .per_step = 0.99,
                             .greedy = 0.95});
    }
  }
  return result;
}

ReplayResult summarised(ReplayResult result) {
  for (CellResult& cell : result.cells) keep_summary(cell);
  return result;
}

TEST(CellSummaries, HaveTheNumbersOfTheirCells) {
  const ReplayResult whole = with_bounds();
  const ReplayResult kept = summarised(whole);
  // Everything that JSON says of a cell, digit by digit.
  EXPECT_EQ(json_lines(kept, false), json_lines(whole, false));
  EXPECT_EQ(summary_text(kept), summary_text(whole));
  for (const CellResult& cell : kept.cells) {
    EXPECT_TRUE(cell.heads.empty() && cell.units.empty() && cell.series.empty());
    EXPECT_TRUE(cell.kept.empty() && cell.lifetimes.empty() && cell.residency.empty());
    EXPECT_EQ(cell.bounds.size(), 1U);
  }
}

// Summaries in which no two numbers are the same, so that two exchanged columns show.
ReplayResult with_unlike_numbers() {
  ReplayResult result = summarised(with_bounds());
  std::uint64_t next = 1;
  for (CellResult& cell : result.cells) {
    HeadMetrics& means = cell.summary->means;
    CellSizes& sizes = cell.summary->sizes;
    for (double* real :
         {&means.retained_mass, &means.kl_to_dense, &means.topk_overlap, &means.output_error,
          &sizes.visible_mean, &sizes.stored_mean, &sizes.kept_at_end, &sizes.lifetime_mean}) {
      *real = 1 / static_cast<double>(++next);
    }
    for (std::uint64_t* count :
         {&sizes.visible_peak, &sizes.stored_peak, &sizes.evictions, &sizes.trims, &sizes.moved,
          &sizes.bytes_peak, &cell.summary->heads, &cell.summary->units}) {
      *count = ++next;
    }
  }
  return result;
}

TEST(CellSummaries, AreGivenBackByTheResultsFile) {
  const TemporaryFolder folder;
  const ReplayResult kept = with_unlike_numbers();
  {
    auto writer = taken(ResultsWriter::begin(folder.path("run.db"), "sweep"));
    ASSERT_TRUE(writer.add(kept));
    ASSERT_TRUE(writer.finish());
  }
  const StoredRun run = taken(read_run(folder.path("run.db")));
  ASSERT_EQ(run.traces.size(), 1U);
  ASSERT_EQ(run.traces[0].cells.size(), kept.cells.size());
  for (std::size_t i = 0; i < kept.cells.size(); ++i) {
    EXPECT_EQ(bytes_of_results(run.traces[0].cells[i]), bytes_of_results(kept.cells[i]));
  }
}

TEST(CellSummaries, DifferInTheirBytesIfAnyNumberDiffers) {
  const CellResult cell = summarised(with_bounds()).cells.front();
  const auto bytes = bytes_of_results(cell);
  for (const auto& change : std::vector<std::function<void(CellResult&)>>{
           [](CellResult& c) { c.summary->means.retained_mass += 1e-15; },
           [](CellResult& c) { c.summary->sizes.moved += 1; },
           [](CellResult& c) { c.summary->sizes.kept_at_end += 0.5; },
           [](CellResult& c) { c.summary->units += 1; },
           [](CellResult& c) { c.bounds.front().greedy = 0; },
           [](CellResult& c) { c.bytes_per_row += 1; },
           [](CellResult& c) { c.kept.push_back(0); }}) {
    CellResult other = cell;
    change(other);
    EXPECT_NE(bytes_of_results(other), bytes);
  }
}

}  // namespace
}  // namespace kv::reports

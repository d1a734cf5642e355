// The run of a sweep in a results file: the order of cells does not matter, and nothing is lost.
#include <array>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/sweeps/sweep_file.h"
#include "kvcheck/tests/cli/table_dump.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using kv::testing::taken;
using kv::testing::TemporaryFolder;
using test::table_dump;
using ::testing::HasSubstr;

ReplayResult a_trace(std::size_t number) {
  ReplayResult result = testing::fake_replay(testing::small_fake());
  result.cells.resize(4);
  result.trace.name = "trace " + std::to_string(number);
  result.trace.checksum = number;
  for (CellResult& cell : result.cells) keep_summary(cell);
  return result;
}

constexpr std::size_t traces = 2;
constexpr std::size_t cells = 4;

SweepIdentity a_sweep() {
  return {.command = "kvcheck sweep plan.json",
          .identity = "0123456789abcdef",
          .plan = "{}",
          .sources = traces,
          .cells = cells,
          .total = traces * cells};
}

Result<void> add_one(SweepFile& file, const SweepPlace& place) {
  ReplayResult result = a_trace(place.source);
  result.cells = {result.cells[place.cell]};
  const std::array<std::size_t, 1> at = {place.cell};
  return file.add(place.source, at, result);
}

TEST(SweepFile, HasTheSameTablesWhateverTheOrder) {
  const TemporaryFolder folder;
  {
    auto file = taken(SweepFile::open(folder.path("a.db"), a_sweep()));
    const std::array<std::size_t, 4> all = {0, 1, 2, 3};
    for (std::size_t t = 0; t < traces; ++t) ASSERT_TRUE(file.add(t, all, a_trace(t)));
    EXPECT_TRUE(taken(file.finish()));
  }
  for (std::size_t i = 0; i < traces * cells; ++i) {
    // Opened anew for each cell, as after a kill; 3 is prime to the number of cells.
    auto file = taken(SweepFile::open(folder.path("b.db"), a_sweep()));
    EXPECT_EQ(file.held(), i);
    const std::size_t index = (5 + 3 * i) % (traces * cells);
    ASSERT_TRUE(add_one(file, {.source = index / cells, .cell = index % cells}));
    EXPECT_EQ(taken(file.finish()), i + 1 == traces * cells);
  }
  EXPECT_EQ(table_dump(folder.path("b.db")), table_dump(folder.path("a.db")));
}

TEST(SweepFile, AddsCellsOfSeveralSourcesAtOnceOrNone) {
  const TemporaryFolder folder;
  std::vector<FinishedCells> all;
  for (std::size_t i = 0; i < traces * cells; ++i) {
    ReplayResult result = a_trace(i % traces);
    result.cells = {result.cells[i / traces]};
    all.push_back({.source = i % traces, .places = {i / traces}, .result = result});
  }
  {
    auto file = taken(SweepFile::open(folder.path("a.db"), a_sweep()));
    const std::vector<FinishedCells> twice = {all[0], all[1], all[0]};
    EXPECT_FALSE(file.add_all(twice));
    EXPECT_EQ(file.held(), 0U);
    ASSERT_TRUE(add_one(file, {.source = 1, .cell = 1}));
    ASSERT_TRUE(file.add_all(all));
    EXPECT_EQ(file.held(), traces * cells);
    EXPECT_TRUE(file.add_all({}));
    EXPECT_TRUE(taken(file.finish()));
  }
  auto file = taken(SweepFile::open(folder.path("b.db"), a_sweep()));
  for (std::size_t i = 0; i < traces * cells; ++i) {
    ASSERT_TRUE(add_one(file, {.source = i / cells, .cell = i % cells}));
  }
  EXPECT_TRUE(taken(file.finish()));
  EXPECT_EQ(table_dump(folder.path("b.db")), table_dump(folder.path("a.db")));
}

TEST(SweepFile, AddsNothingThatItHolds) {
  const TemporaryFolder folder;
  auto file = taken(SweepFile::open(folder.path("a.db"), a_sweep()));
  ASSERT_TRUE(add_one(file, {.source = 1, .cell = 2}));
  ASSERT_TRUE(add_one(file, {.source = 1, .cell = 2}));
  EXPECT_EQ(file.held(), 1U);
  EXPECT_TRUE(file.holds({.source = 1, .cell = 2}));
  EXPECT_FALSE(file.holds({.source = 0, .cell = 2}));
  EXPECT_FALSE(taken(file.finish()));
}

TEST(SweepFile, BeginsAnewBehindAnotherRunAndFindsItsCells) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.db");
  {
    auto file = taken(SweepFile::open(path, a_sweep()));
    ASSERT_TRUE(add_one(file, {.source = 0, .cell = 1}));
  }
  {
    auto writer = taken(ResultsWriter::begin(path, "replay"));
    ASSERT_TRUE(writer.add(a_trace(7)));
    ASSERT_TRUE(writer.finish());
  }
  auto file = taken(SweepFile::open(path, a_sweep()));
  EXPECT_EQ(file.held(), 0U);
  const ReplayResult result = a_trace(0);
  const auto found = taken(file.earlier(result.trace, result.top_k, result.cells[1].cell));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(bytes_of_results(found->cells.front()), bytes_of_results(result.cells[1]));
  EXPECT_FALSE(taken(file.earlier(result.trace, result.top_k, result.cells[2].cell)).has_value());
  EXPECT_FALSE(taken(file.earlier(result.trace, 1, result.cells[1].cell)).has_value());
  ASSERT_TRUE(add_one(file, {.source = 0, .cell = 1}));
  EXPECT_EQ(taken(list_runs(path)).size(), 3U);
}

TEST(SweepFile, IsWrittenByOneProcessAtATime) {
  const TemporaryFolder folder;
  const auto file = taken(SweepFile::open(folder.path("a.db"), a_sweep()));
  const auto other = SweepFile::open(folder.path("a.db"), a_sweep());
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message,
              HasSubstr("is being written by another run, of this process or of another"));
}

}  // namespace
}  // namespace kv::reports

#include "kvcheck/reports/store/results.h"

#include <sqlite3.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "kvcheck/base/file.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::read_text;
using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

// Bit for bit, so that "not measured" equals itself.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}

void expect_same_trace(const ReplayResult& a, const ReplayResult& b) {
  const TraceInfo& x = a.trace;
  const TraceInfo& y = b.trace;
  EXPECT_EQ(x.name, y.name);
  EXPECT_EQ(x.kind, y.kind);
  EXPECT_EQ(x.model, y.model);
  EXPECT_EQ(x.source, y.source);
  EXPECT_EQ(x.licence, y.licence);
  EXPECT_EQ(x.loop, y.loop);
  EXPECT_EQ(std::tuple(x.tokens, x.query_heads, x.kv_heads, x.head_dim, x.layers),
            std::tuple(y.tokens, y.query_heads, y.kv_heads, y.head_dim, y.layers));
  EXPECT_EQ(x.trained_context, y.trained_context);
  EXPECT_EQ(x.rope, y.rope);
  EXPECT_EQ(x.number, y.number);
  EXPECT_EQ(x.checksum, y.checksum);
  EXPECT_EQ(std::tuple(a.top_k, a.series_width), std::tuple(b.top_k, b.series_width));
  EXPECT_EQ(std::tuple(a.map.layer, a.map.head, a.map.side, a.map.block, a.map.mass),
            std::tuple(b.map.layer, b.map.head, b.map.side, b.map.block, b.map.mass));
  ASSERT_EQ(a.dense.size(), b.dense.size());
  for (std::size_t i = 0; i < a.dense.size(); ++i) {
    const auto facts = [](const DenseFacts& d) {
      return std::tuple(d.layer, d.head, d.first_mass, d.sinks_mass, d.recent_mass, d.entropy);
    };
    EXPECT_EQ(facts(a.dense[i]), facts(b.dense[i]));
  }
}

void expect_same_metrics(const CellResult& a, const CellResult& b) {
  ASSERT_EQ(a.heads.size(), b.heads.size());
  for (std::size_t i = 0; i < a.heads.size(); ++i) {
    const HeadMetrics& x = a.heads[i].metrics;
    const HeadMetrics& y = b.heads[i].metrics;
    EXPECT_EQ(std::tuple(a.heads[i].layer, a.heads[i].head),
              std::tuple(b.heads[i].layer, b.heads[i].head));
    EXPECT_TRUE(same(x.retained_mass, y.retained_mass) && same(x.kl_to_dense, y.kl_to_dense));
    EXPECT_TRUE(same(x.topk_overlap, y.topk_overlap) && same(x.output_error, y.output_error));
  }
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    const SeriesPoint& x = a.series[i];
    const SeriesPoint& y = b.series[i];
    EXPECT_EQ(x.first_step, y.first_step);
    EXPECT_TRUE(same(x.retained_mass, y.retained_mass) && same(x.kl_to_dense, y.kl_to_dense));
    EXPECT_TRUE(same(x.topk_overlap, y.topk_overlap) && same(x.output_error, y.output_error));
    EXPECT_TRUE(same(x.stored, y.stored) && same(x.kept, y.kept) && same(x.visible, y.visible));
  }
}

void expect_same_units(const CellResult& a, const CellResult& b) {
  ASSERT_EQ(a.units.size(), b.units.size());
  for (std::size_t i = 0; i < a.units.size(); ++i) {
    const UnitResult& x = a.units[i];
    const UnitResult& y = b.units[i];
    EXPECT_EQ(std::tuple(x.layer, x.head, x.stored_peak, x.visible_peak, x.kept_at_end),
              std::tuple(y.layer, y.head, y.stored_peak, y.visible_peak, y.kept_at_end));
    EXPECT_EQ(std::tuple(x.evictions, x.trims, x.moved), std::tuple(y.evictions, y.trims, y.moved));
    EXPECT_TRUE(same(x.stored_mean, y.stored_mean) && same(x.visible_mean, y.visible_mean));
    EXPECT_TRUE(same(x.lifetime_mean, y.lifetime_mean));
  }
}

void expect_same_bounds(const CellResult& a, const CellResult& b) {
  ASSERT_EQ(a.bounds.size(), b.bounds.size());
  for (std::size_t i = 0; i < a.bounds.size(); ++i) {
    const UnitBounds& x = a.bounds[i];
    const UnitBounds& y = b.bounds[i];
    EXPECT_EQ(std::tuple(x.layer, x.head, x.heads), std::tuple(y.layer, y.head, y.heads));
    EXPECT_TRUE(same(x.optimum, y.optimum) && same(x.per_step, y.per_step));
    EXPECT_TRUE(same(x.greedy, y.greedy));
  }
}

void expect_same_cell(const CellResult& a, const CellResult& b) {
  EXPECT_EQ(a.cell, b.cell);
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.lifetimes, b.lifetimes);
  EXPECT_EQ(a.bytes_per_row, b.bytes_per_row);
  expect_same_metrics(a, b);
  expect_same_units(a, b);
  expect_same_bounds(a, b);
  ASSERT_EQ(a.residency.size(), b.residency.size());
  for (std::size_t i = 0; i < a.residency.size(); ++i) {
    EXPECT_EQ(std::tuple(a.residency[i].layer, a.residency[i].head, a.residency[i].evicted_at),
              std::tuple(b.residency[i].layer, b.residency[i].head, b.residency[i].evicted_at));
  }
}

void write_run(const std::string& path, const std::vector<ReplayResult>& traces) {
  auto writer = taken(ResultsWriter::begin(path, "kvcheck replay 'a b'"));
  for (const ReplayResult& trace : traces) ASSERT_TRUE(writer.add(trace));
  ASSERT_TRUE(writer.finish());
}

TEST(Results, GivesBackEverythingThatWasStored) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  testing::FakeReplay bare = small_fake();
  bare.values = false;
  std::vector<ReplayResult> stored = {fake_replay(small_fake()), fake_replay(bare)};
  stored[1].trace.name = "zipf \"<&'\xff";
  stored[1].trace.kind = TraceKind::attention;
  stored[1].trace.number = Number::bf16;
  stored[1].trace.rope = {RopeLayout::half, 4, 1e6};
  stored[1].map = {};
  write_run(path, stored);
  const StoredRun run = taken(read_run(path));
  EXPECT_EQ(run.summary.id, 1);
  EXPECT_EQ(run.summary.version, version);
  EXPECT_EQ(run.summary.command, "kvcheck replay 'a b'");
  EXPECT_TRUE(run.summary.complete);
  ASSERT_EQ(run.traces.size(), stored.size());
  for (std::size_t t = 0; t < stored.size(); ++t) {
    expect_same_trace(stored[t], run.traces[t]);
    ASSERT_EQ(stored[t].cells.size(), run.traces[t].cells.size());
    for (std::size_t c = 0; c < stored[t].cells.size(); ++c) {
      expect_same_cell(stored[t].cells[c], run.traces[t].cells[c]);
    }
  }
}

TEST(Results, ListsRunsOldestFirstAndTakesTheNewestForZero) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  const ReplayResult trace = fake_replay(small_fake());
  write_run(path, {trace});
  write_run(path, {trace, trace});
  const std::vector<RunSummary> runs = taken(list_runs(path));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(std::tuple(runs[0].id, runs[0].traces, runs[0].cells),
            std::tuple(1, 1U, trace.cells.size()));
  EXPECT_EQ(std::tuple(runs[1].id, runs[1].traces, runs[1].cells),
            std::tuple(2, 2U, 2 * trace.cells.size()));
  EXPECT_EQ(taken(read_run(path)).summary.id, 2);
  EXPECT_EQ(taken(read_run(path, 1)).traces.size(), 1U);
  EXPECT_EQ(read_run(path, 7).error().message, "'" + path + "' has no run 7; it holds runs 1 to 2");
}

TEST(Results, ReadsAsIncompleteUntilFinished) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  {
    auto writer = taken(ResultsWriter::begin(path, "kvcheck replay"));
    EXPECT_FALSE(taken(read_run(path)).summary.complete);
    ASSERT_TRUE(writer.add(fake_replay(small_fake())));
    EXPECT_EQ(taken(read_run(path)).traces.size(), 1U);
  }
  EXPECT_FALSE(taken(read_run(path)).summary.complete);
}

// How many rows all tables hold together.
std::int64_t rows_in(const std::string& path) {
  Database database = taken(Database::open(path));
  std::int64_t rows = 0;
  for (const char* const sql :
       {"SELECT count(*) FROM runs", "SELECT count(*) FROM traces", "SELECT count(*) FROM dense",
        "SELECT count(*) FROM cells", "SELECT count(*) FROM heads", "SELECT count(*) FROM units",
        "SELECT count(*) FROM series", "SELECT count(*) FROM residency"}) {
    Statement count(database, sql);
    EXPECT_TRUE(*count.next());
    rows += count.integer(0);
  }
  return rows;
}

TEST(Results, ForgetsADiscardedRunInEveryTable) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  const ReplayResult trace = fake_replay(small_fake());
  ASSERT_FALSE(trace.cells.front().residency.empty());
  write_run(path, {trace});
  const std::int64_t before = rows_in(path);
  {
    auto writer = taken(ResultsWriter::begin(path, "kvcheck replay"));
    ASSERT_TRUE(writer.add(trace));
    EXPECT_EQ(writer.traces(), 1U);
    ASSERT_GT(rows_in(path), before + 1);
    ASSERT_TRUE(writer.discard());
  }
  EXPECT_EQ(rows_in(path), before);
  EXPECT_EQ(taken(list_runs(path)).size(), 1U);
  ASSERT_EQ(taken(read_run(path)).traces.size(), 1U);
  expect_same_cell(taken(read_run(path)).traces[0].cells.back(), trace.cells.back());
}

TEST(Results, LeavesAnEmptyFileEmptyWhenTheRunIsDiscarded) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  ASSERT_TRUE(write_file(path, ""));
  {
    auto writer = taken(ResultsWriter::begin(path, "kvcheck replay"));
    ASSERT_TRUE(writer.add(fake_replay(small_fake())));
    ASSERT_TRUE(writer.discard());
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  EXPECT_FALSE(std::filesystem::exists(path + "-journal"));
  EXPECT_TRUE(ResultsWriter::begin(path, "kvcheck replay"));
}

TEST(Results, LeavesNoSideFiles) {
  const TemporaryFolder folder;
  write_run(folder.path("run.db"), {fake_replay(small_fake())});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::vector<std::string>{"run.db"});
}

TEST(Results, HoldsTheDocumentedMarks) {
  const TemporaryFolder folder;
  write_run(folder.path("run.db"), {});
  const std::string bytes = read_text(folder.path("run.db"));
  EXPECT_EQ(bytes.substr(68, 4), "kvck");                       // application_id
  EXPECT_EQ(bytes.substr(60, 4), std::string("\0\0\0\15", 4));  // user_version
  EXPECT_EQ(bytes.substr(18, 2), "\1\1");                       // no write-ahead log
}

}  // namespace
}  // namespace kv::reports

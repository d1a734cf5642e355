// Replays with visibility=top-pages: against the definitions in double precision, with the oracle,
// and what they refuse.
#include <array>
#include <cmath>

#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/tests/sim/memory_trace.h"
#include "kvcheck/tests/sim/plain_head.h"

namespace kv {
namespace {

using testing::Each;
using testing::HasSubstr;

Cell cell_of(const std::string& text) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return {*spec, 1};
}

ReplayResult run(const Trace& trace, const std::vector<Cell>& cells, const ReplayOptions& options) {
  Result<ReplayResult> result = replay(trace, cells, options);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

// The pages by their names: every product written out, everything sorted.
std::vector<std::size_t> plainly_selected(const PlainHead& head,
                                          const Trace& trace,
                                          const HeadResult& at,
                                          std::size_t query,
                                          const TopPages& sizes) {
  const Trace::Layer& layer = trace.layer(at.layer);
  const std::size_t kv_head = kv_head_of(trace.info(), at.head);
  const auto rotated = [&](const TensorView& tensor, std::size_t index, std::size_t token) {
    return head.rotated(head.vector(tensor, index, token), static_cast<double>(token));
  };
  const std::vector<double> q = rotated(layer.q, at.head, query);
  const std::size_t own = query / sizes.page;
  std::vector<std::pair<double, std::size_t>> pages;
  for (std::size_t page = 0; page < own; ++page) {
    double bound = 0;
    for (std::size_t d = 0; d < q.size(); ++d) {
      double most = -1e300;
      for (std::size_t i = 0; i < sizes.page; ++i) {
        most = std::max(most, q[d] * rotated(layer.k, kv_head, page * sizes.page + i)[d]);
      }
      bound += most;
    }
    pages.emplace_back(bound, page);
  }
  std::ranges::sort(pages, std::greater());
  pages.resize(std::min<std::size_t>(pages.size(), sizes.pages() - 1));
  std::vector<std::size_t> keys;
  for (const auto& [bound, page] : pages) {
    for (std::size_t i = 0; i < sizes.page; ++i) keys.push_back(page * sizes.page + i);
  }
  for (std::size_t key = own * sizes.page; key <= query; ++key) keys.push_back(key);
  std::ranges::sort(keys);
  return keys;
}

// Retained mass and output error of one head.
std::pair<double, double> plainly(const Trace& trace, const HeadResult& at, const TopPages& sizes) {
  const PlainHead head(trace, at.layer, at.head);
  const std::size_t tokens = trace.info().tokens;
  double mass = 0;
  double error = 0;
  for (std::size_t query = 0; query < tokens; ++query) {
    std::vector<std::size_t> all(query + 1);
    std::vector<double> everywhere(query + 1);
    for (std::size_t key = 0; key <= query; ++key) {
      all[key] = key;
      everywhere[key] = static_cast<double>(key);
    }
    const auto keys = plainly_selected(head, trace, at, query, sizes);
    std::vector<double> places;
    for (const std::size_t key : keys) places.push_back(static_cast<double>(key));
    const auto dense = head.row(query, all, everywhere);
    for (const std::size_t key : keys) mass += dense[key];
    const auto full = head.output(dense, all);
    const auto part = head.output(head.row(query, keys, places), keys);
    double difference = 0;
    double norm = 0;
    for (std::size_t j = 0; j < full.size(); ++j) {
      difference += (part[j] - full[j]) * (part[j] - full[j]);
      norm += full[j] * full[j];
    }
    error += std::sqrt(difference / norm);
  }
  const auto n = static_cast<double>(tokens);
  return {mass / n, error / n};
}

TEST(TopPagesReplay, AgreesWithTheDefinitionsInDoublePrecision) {
  const Trace trace = random_qkv_trace(MemoryShape{});
  for (const std::string unit : {"kv-head", "head", "layer"}) {
    const Cell cell = cell_of("dense;visibility=top-pages:12/4/1;unit=" + unit);
    const ReplayResult result = run(trace, {cell}, {});
    for (const HeadResult& got : result.cells[0].heads) {
      const auto [mass, error] = plainly(trace, got, cell.spec.top_pages);
      if (got.layer == 0) {
        EXPECT_EQ(got.metrics.retained_mass, 1);
        EXPECT_EQ(got.metrics.output_error, 0);
        continue;
      }
      EXPECT_NEAR(got.metrics.retained_mass, mass, 1e-6);
      EXPECT_NEAR(got.metrics.output_error, error, 1e-5);
      EXPECT_LT(mass, 0.98);
      EXPECT_LT(got.metrics.topk_overlap, 0.98);
      EXPECT_GT(got.metrics.kl_to_dense, 0.01);
    }
  }
}

TEST(TopPagesReplay, StoresEverythingAndEvictsNothing) {
  const Trace trace = random_qkv_trace(MemoryShape{});
  const ReplayResult result =
      run(trace, {cell_of("dense;visibility=top-pages:12/4/0;chunk=7")}, {});
  double attended = 0;
  for (Position query = 0; query < 40; ++query) {
    attended += static_cast<double>(attended_by({12, 4, 0}, query)) / 40;
  }
  for (const UnitResult& unit : result.cells[0].units) {
    EXPECT_EQ(unit.evictions, 0U);
    EXPECT_EQ(unit.kept_at_end, 40U);
    EXPECT_EQ(unit.stored_peak, 40U);
    EXPECT_EQ(unit.visible_peak, 12U);
    EXPECT_NEAR(unit.visible_mean, attended, 1e-12);
  }
}

TEST(TopPagesReplay, IsDenseWhereEverythingFits) {
  const Trace trace = random_qkv_trace(MemoryShape{});
  const ReplayResult result =
      run(trace, {cell_of("dense"), cell_of("dense;visibility=top-pages:40/4/0")}, {});
  for (std::size_t i = 0; i < result.cells[0].heads.size(); ++i) {
    EXPECT_EQ(result.cells[1].heads[i].metrics, result.cells[0].heads[i].metrics);
  }
}

TEST(TopPagesReplay, DoesNotDependOnThreadsOrChunks) {
  const Trace trace = random_qkv_trace(MemoryShape{});
  const std::string spec = "dense;visibility=top-pages:8/4/0";
  ReplayOptions options;
  options.threads = 1;
  const ReplayResult one = run(trace, {cell_of(spec)}, options);
  options.threads = 3;
  const ReplayResult other =
      run(trace, {cell_of(spec + ";chunk=9"), cell_of("window:recent=5"), cell_of("tova:budget=9")},
          options);
  for (std::size_t i = 0; i < one.cells[0].heads.size(); ++i) {
    EXPECT_EQ(one.cells[0].heads[i].metrics, other.cells[0].heads[i].metrics);
  }
}

// Each head selects anew for every query. So neither an optimum that never takes an eviction back
// nor one that a whole unit shares bounds it.
TEST(TopPagesReplay, IsComparedWithTheHeaviestKeysOfEachHeadAndNothingElse) {
  const Trace trace = random_qkv_trace(MemoryShape{});
  ReplayOptions options;
  options.oracle = true;
  const ReplayResult result = run(
      trace, {cell_of("dense;visibility=top-pages:12/4/1"), cell_of("window:recent=11")}, options);
  const CellResult& selected = result.cells[0];
  ASSERT_EQ(selected.bounds.size(), selected.heads.size());
  for (std::size_t i = 0; i < selected.bounds.size(); ++i) {
    const UnitBounds& bounds = selected.bounds[i];
    EXPECT_TRUE(std::isnan(bounds.optimum));
    EXPECT_TRUE(std::isnan(bounds.greedy));
    EXPECT_EQ(bounds.heads, 1U);
    EXPECT_EQ(bounds.head, selected.heads[i].head);
    EXPECT_LE(selected.heads[i].metrics.retained_mass, bounds.per_step + 3e-6);
    if (bounds.layer == 0) continue;
    EXPECT_LT(bounds.per_step, 1);
  }
  for (const UnitBounds& bounds : result.cells[1].bounds)
    EXPECT_TRUE(std::isfinite(bounds.optimum));
}

TEST(TopPagesReplay, LimitsAreWhatEachQueryAttendsTo) {
  const auto limits = visible_limits(cell_of("dense;visibility=top-pages:4/2/0").spec, 7);
  EXPECT_EQ(limits, (std::vector<std::uint32_t>{1, 2, 3, 4, 3, 4, 3}));
}

TEST(TopPagesReplay, RefusesTracesWithoutKeysAndTracesOfDenseLayersOnly) {
  const Trace rows = attention_trace(
      MemoryShape{}, [](std::size_t, std::size_t, std::size_t, std::size_t) { return 1.0; });
  const auto refusal = [](const Trace& trace, const std::string& text) {
    const Result<void> served = check_serves(trace, cell_of(text).spec);
    return served ? std::string() : served.error().message;
  };
  EXPECT_THAT(refusal(rows, "@quest"), HasSubstr("records attention rows only; record q/k/v"));
  const Trace qkv = random_qkv_trace(MemoryShape{});
  EXPECT_THAT(refusal(qkv, "@quest"), HasSubstr("as in visibility=top-pages:1024/16/0"));
  EXPECT_EQ(refusal(qkv, "dense;visibility=top-pages:1024/16/1"), "");
}

}  // namespace
}  // namespace kv

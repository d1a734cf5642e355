#include "kvcheck/sim/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "kvcheck/tests/sim/memory_trace.h"
#include "kvcheck/tests/sim/plain_head.h"

namespace kv {
namespace {

Cell cell_of(const std::string& text, std::uint64_t seed = 1) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return {*spec, seed};
}

ReplayResult run(const Trace& trace,
                 const std::vector<Cell>& cells,
                 unsigned threads = 1,
                 std::size_t top_k = 5) {
  ReplayOptions options;
  options.threads = threads;
  options.top_k = top_k;
  Result<ReplayResult> result = replay(trace, cells, options);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

double mean_mass(const CellResult& cell) {
  double sum = 0;
  for (const HeadResult& head : cell.heads) sum += head.metrics.retained_mass;
  return sum / static_cast<double>(cell.heads.size());
}

TEST(Replay, OfQueriesKeysAndValuesAgreesWithTheDefinitionsInDoublePrecision) {
  for (const RopeLayout layout : {RopeLayout::half, RopeLayout::interleaved}) {
    MemoryShape shape;
    shape.rope = {layout, 6, 100};
    const Trace trace = random_qkv_trace(shape);
    for (const bool in_cache : {false, true}) {
      const std::string positions = in_cache ? "in-cache" : "absolute";
      const ReplayResult result =
          run(trace, {cell_of("streaming:sinks=2,recent=7;positions=" + positions)});
      for (const HeadResult& got : result.cells[0].heads) {
        const HeadMetrics expected =
            plain_streaming(PlainHead(trace, got.layer, got.head), shape.tokens, 2, 7, in_cache);
        EXPECT_NEAR(got.metrics.retained_mass, expected.retained_mass, 1e-6);
        EXPECT_NEAR(got.metrics.kl_to_dense, expected.kl_to_dense, 1e-5);
        EXPECT_NEAR(got.metrics.topk_overlap, expected.topk_overlap, 1e-9);
        EXPECT_NEAR(got.metrics.output_error, expected.output_error, 1e-5);
        EXPECT_LT(expected.retained_mass, 0.95);
        EXPECT_GT(expected.output_error, 0.05);
      }
    }
  }
}

TEST(Replay, WithoutTopKMeasuresAllElse) {
  const Trace trace = random_qkv_trace({});
  const std::vector<Cell> cells = {cell_of("h2o:budget=8"),
                                   cell_of("tova:budget=8;positions=in-cache"),
                                   cell_of("window:budget=4000")};
  const ReplayResult with = run(trace, cells);
  const ReplayResult without = run(trace, cells, 1, 0);
  EXPECT_EQ(without.top_k, 0U);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::size_t head = 0; head < with.cells[cell].heads.size(); ++head) {
      const HeadMetrics& expected = with.cells[cell].heads[head].metrics;
      const HeadMetrics& got = without.cells[cell].heads[head].metrics;
      EXPECT_TRUE(std::isnan(got.topk_overlap)) << cell;
      EXPECT_FALSE(std::isnan(expected.topk_overlap));
      EXPECT_EQ(got.retained_mass, expected.retained_mass);
      EXPECT_EQ(got.kl_to_dense, expected.kl_to_dense);
      EXPECT_EQ(got.output_error, expected.output_error);
    }
  }
}

TEST(Replay, IsExactWhereHardlyAnyDenseMassIsLeft) {
  // Without rotation, absolute and in-cache positions must agree, also for logits in the hundreds.
  MemoryShape shape;
  shape.rope = {};
  const Trace trace = random_qkv_trace(shape, 5, 12);
  for (const std::string policy : {"streaming:sinks=1,recent=7", "h2o:budget=8", "tova:budget=8"}) {
    const ReplayResult result =
        run(trace, {cell_of(policy), cell_of(policy + ";positions=in-cache")});
    double least = 1;
    for (std::size_t head = 0; head < result.cells[0].heads.size(); ++head) {
      const HeadMetrics& absolute = result.cells[0].heads[head].metrics;
      const HeadMetrics& in_cache = result.cells[1].heads[head].metrics;
      EXPECT_EQ(absolute.retained_mass, in_cache.retained_mass) << policy;
      EXPECT_NEAR(absolute.kl_to_dense, in_cache.kl_to_dense, 1e-4) << policy;
      EXPECT_NEAR(absolute.output_error, in_cache.output_error, 1e-5) << policy;
      least = std::min(least, absolute.retained_mass);
    }
    EXPECT_LT(least, 0.6);
  }
}

// Key `key` of every row weighs 2^-(query - key) in even heads, the same for all in odd ones.
Trace halving_trace(std::size_t tokens) {
  MemoryShape shape;
  shape.tokens = tokens;
  return attention_trace(
      shape, [](std::size_t, std::size_t head, std::size_t query, std::size_t key) {
        return head % 2 == 0 ? std::exp2(-static_cast<double>(query - key)) : 1.0;
      });
}

TEST(Replay, OfAttentionRowsGivesTheMassThatOneCanWorkOutByHand) {
  const ReplayResult result = run(halving_trace(20), {cell_of("window:recent=3")});
  const std::vector<HeadResult>& heads = result.cells[0].heads;
  double halving = 0;
  double even = 0;
  for (int n = 1; n <= 20; ++n) {  // keys of the row; 4 of them are seen
    halving += n <= 4 ? 1 : (1 - std::exp2(-4)) / (1 - std::exp2(-n));
    even += n <= 4 ? 1 : 4.0 / n;
  }
  EXPECT_NEAR(heads[0].metrics.retained_mass, halving / 20, 1e-6);
  EXPECT_NEAR(heads[1].metrics.retained_mass, even / 20, 1e-6);
  EXPECT_TRUE(std::isnan(heads[0].metrics.output_error));
}

TEST(Replay, LosesExactlyNothingWhereNothingIsEvicted) {
  const Trace trace = random_qkv_trace({});
  const ReplayResult result =
      run(trace, {cell_of("dense"), cell_of("streaming:sinks=4,recent=36;positions=in-cache"),
                  cell_of("h2o:budget=40"), cell_of("reservoir:budget=41;timing=lazy:9;chunk=7")});
  for (const CellResult& cell : result.cells) {
    for (const HeadResult& head : cell.heads) {
      EXPECT_EQ(head.metrics, (HeadMetrics{1, 0, 1, 0})) << cell.cell.spec.canonical();
    }
  }
}

TEST(Replay, GivesTheSameBytesForAnyNumberOfThreads) {
  MemoryShape shape;
  shape.layers = 3;
  const Trace trace = random_qkv_trace(shape);
  std::vector<Cell> cells;
  for (const std::string policy : {"streaming", "random", "reservoir", "h2o", "tova"}) {
    cells.push_back(cell_of(policy + ":budget=16", 1));
    cells.push_back(cell_of(policy + ":budget=12;positions=in-cache;chunk=5", 2));
  }
  for (const std::string unit : {"kv-head", "head", "layer", "model"}) {
    cells.push_back(cell_of("h2o:budget=16;unit=" + unit, 9));
    const ReplayResult one = run(trace, cells, 1);
    for (const unsigned threads : {2U, 5U, 64U}) {
      const ReplayResult many = run(trace, cells, threads);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        ASSERT_EQ(one.cells[i].heads.size(), 12U);
        for (std::size_t head = 0; head < 12; ++head) {
          EXPECT_EQ(one.cells[i].heads[head].metrics, many.cells[i].heads[head].metrics);
        }
        EXPECT_EQ(one.cells[i].kept, many.cells[i].kept);
        EXPECT_EQ(one.cells[i].lifetimes, many.cells[i].lifetimes);
        for (std::size_t point = 0; point < one.cells[i].series.size(); ++point) {
          EXPECT_EQ(one.cells[i].series[point].kl_to_dense,
                    many.cells[i].series[point].kl_to_dense);
        }
      }
    }
  }
}

TEST(Replay, GivesACellTheSameNumbersAloneAndAmongOthers) {
  const Trace trace = random_qkv_trace({});
  const std::vector<Cell> cells = {cell_of("h2o:budget=12"), cell_of("streaming:budget=9"),
                                   cell_of("tova:budget=10;unit=layer")};
  const ReplayResult together = run(trace, cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const ReplayResult alone = run(trace, {cells[i]});
    EXPECT_EQ(mean_mass(alone.cells[0]), mean_mass(together.cells[i]));
    EXPECT_EQ(alone.cells[0].kept, together.cells[i].kept);
    for (std::size_t point = 0; point < alone.cells[0].series.size(); ++point) {
      EXPECT_EQ(alone.cells[0].series[point].kl_to_dense,
                together.cells[i].series[point].kl_to_dense);
      EXPECT_EQ(alone.cells[0].series[point].output_error,
                together.cells[i].series[point].output_error);
    }
  }
}

TEST(Replay, SharesResidentsAsTheUnitSays) {
  const Trace trace = random_qkv_trace({});  // 2 layers, 4 query heads, 2 kv-heads
  const std::vector<std::pair<std::string, std::size_t>> counts = {
      {"head", 8}, {"kv-head", 4}, {"layer", 2}, {"model", 1}};
  for (const auto& [unit, count] : counts) {
    const ReplayResult result = run(trace, {cell_of("h2o:budget=10;unit=" + unit)});
    const CellResult& cell = result.cells[0];
    EXPECT_EQ(cell.units.size(), count) << unit;
    EXPECT_EQ(cell.residency.size(), count) << unit;
    EXPECT_EQ(cell.bytes_per_row, 2 * 8 * 4 * (count == 1 ? 4 : count == 2 ? 2 : 1)) << unit;
  }
  // Query heads of one kv-head vote together: the unit's set is neither head's own.
  const ReplayResult own = run(trace, {cell_of("h2o:budget=10;unit=head")});
  const ReplayResult group = run(trace, {cell_of("h2o:budget=10;unit=kv-head")});
  EXPECT_NE(own.cells[0].residency[0].evicted_at, group.cells[0].residency[0].evicted_at);
}

TEST(Replay, GivesPoliciesTheTracesRotation) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"expected-attention:budget=12,future=8", "expected-attention:budget=12,future=0"},
      {"semantic-blocks:budget=12,block=2,scores=rotated", "semantic-blocks:budget=12,block=2"},
      {"keydiff:budget=12", "keydiff:budget=12,scores=raw"},
      {"lagkv:budget=12", "lagkv:budget=12,scores=raw"},
      {"rkv:budget=12", "rkv:budget=12,scores=raw"}};
  for (const auto& [with, without] : pairs) {
    MemoryShape shape;
    const ReplayResult rotated = run(random_qkv_trace(shape), {cell_of(with), cell_of(without)});
    EXPECT_NE(mean_mass(rotated.cells[0]), mean_mass(rotated.cells[1])) << with;
    shape.rope = {};
    const ReplayResult same = run(random_qkv_trace(shape), {cell_of(with), cell_of(without)});
    EXPECT_EQ(mean_mass(same.cells[0]), mean_mass(same.cells[1])) << with;
  }
}

TEST(Replay, CountsEveryTokenOnceAsKeptOrEvicted) {
  const Trace trace = random_qkv_trace({});
  for (const std::string spec :
       {"streaming:sinks=2,recent=5", "reservoir:sinks=1,recent=3,budget=9",
        "h2o:recent=4,budget=9;timing=lazy:4",
        "random:recent=4,budget=9;timing=trim-then-attend;chunk=6"}) {
    const ReplayResult result = run(trace, {cell_of(spec)});
    const CellResult& cell = result.cells[0];
    std::uint64_t evicted = 0;
    std::uint64_t kept = 0;
    for (const std::uint64_t count : cell.lifetimes) evicted += count;
    for (const std::uint32_t count : cell.kept) kept += count;
    EXPECT_EQ(evicted + kept, 40 * cell.units.size()) << spec;
    EXPECT_GT(evicted, 0U);
    for (const Residency& unit : cell.residency) {
      const auto gone =
          std::ranges::count_if(unit.evicted_at, [](Position at) { return at <= 40; });
      EXPECT_EQ(static_cast<std::uint64_t>(gone), cell.units[0].evictions) << spec;
    }
  }
}

TEST(Replay, HandsAnExceptionOfAnyThreadToItsCaller) {
  ReplayOptions options;
  options.progress = [](double) -> bool { throw std::bad_alloc(); };
  const Trace trace = random_qkv_trace({.tokens = 100});
  const std::vector<Cell> cells = {cell_of("window:recent=8"), cell_of("h2o:budget=8")};
  for (const unsigned threads : {1U, 2U, 8U}) {
    options.threads = threads;
    EXPECT_THROW(static_cast<void>(replay(trace, cells, options)), std::bad_alloc) << threads;
  }
}

TEST(Replay, StopsWhenAskedTo) {
  ReplayOptions options;
  options.progress = [](double done) { return done < 0.5; };
  const Trace trace = random_qkv_trace({.tokens = 400});
  const std::vector<Cell> cells = {cell_of("window:recent=8")};
  const Result<ReplayResult> result = replay(trace, cells, options);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("stopped"), std::string::npos);
}

}  // namespace
}  // namespace kv

#include "sim/replay.h"

#include <algorithm>
#include <cmath>

#include "tests/sim/memory_trace.h"

namespace kv {
namespace {

Cell cell_of(const std::string& text, std::uint64_t seed = 1) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return {*spec, seed};
}

ReplayResult run(const Trace& trace, const std::vector<Cell>& cells, unsigned threads = 1) {
  ReplayOptions options;
  options.threads = threads;
  options.top_k = 5;
  Result<ReplayResult> result = replay(trace, cells, options);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

double mean_mass(const CellResult& cell) {
  double sum = 0;
  for (const HeadResult& head : cell.heads) sum += head.metrics.retained_mass;
  return sum / static_cast<double>(cell.heads.size());
}

// Everything below computes one head of one layer in double precision, straight from the
// definitions: keys rotated by complex numbers at the positions asked for, no runs, no kernels.
class PlainHead {
 public:
  PlainHead(const Trace& trace, std::size_t layer, std::size_t head)
      : info_(trace.info()), layer_(trace.layer(layer)), head_(head) {
    kv_head_ = head / (info_.query_heads / info_.kv_heads);
  }

  [[nodiscard]] std::vector<double> vector(const TensorView& tensor,
                                           std::size_t head,
                                           std::size_t token) const {
    std::vector<double> out;
    for (std::size_t j = 0; j < info_.head_dim; ++j) {
      out.push_back(number_at(tensor, (head * info_.tokens + token) * info_.head_dim + j));
    }
    return out;
  }

  [[nodiscard]] std::vector<double> turned(std::vector<double> x, double position) const {
    const std::size_t pairs = info_.rope.dims / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = position * std::pow(info_.rope.theta, -static_cast<double>(i) /
                                                                     static_cast<double>(pairs));
      const bool half = info_.rope.layout == RopeLayout::half;
      double& a = x[half ? i : 2 * i];
      double& b = x[half ? i + pairs : 2 * i + 1];
      const double turned_a = a * std::cos(angle) - b * std::sin(angle);
      b = a * std::sin(angle) + b * std::cos(angle);
      a = turned_a;
    }
    return x;
  }

  // Probabilities of `query` over the tokens `keys`, which stand at `places`, the query at the
  // last.
  [[nodiscard]] std::vector<double> row(std::size_t query,
                                        const std::vector<std::size_t>& keys,
                                        const std::vector<double>& places) const {
    const std::vector<double> q = turned(vector(layer_.q, head_, query), places.back());
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::vector<double> k = turned(vector(layer_.k, kv_head_, keys[i]), places[i]);
      double dot = 0;
      for (std::size_t j = 0; j < q.size(); ++j) dot += q[j] * k[j];
      weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(info_.head_dim))));
      sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  }

  [[nodiscard]] std::vector<double> output(const std::vector<double>& row,
                                           const std::vector<std::size_t>& keys) const {
    std::vector<double> out(info_.head_dim);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::vector<double> v = vector(layer_.v, kv_head_, keys[i]);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += row[i] * v[j];
    }
    return out;
  }

 private:
  const TraceInfo& info_;
  const Trace::Layer& layer_;
  std::size_t head_;
  std::size_t kv_head_;
};

std::vector<std::size_t> sinks_and_recent(std::size_t query,
                                          std::size_t sinks,
                                          std::size_t recent) {
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key <= query; ++key) {
    // Attend, then trim: the query still sees `recent` tokens before itself.
    if (key < sinks || key + recent >= query) keys.push_back(key);
  }
  return keys;
}

std::vector<std::size_t> largest(const std::vector<double>& row,
                                 const std::vector<std::size_t>& keys,
                                 std::size_t k) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(k, order.size()); ++i) out.push_back(keys[order[i]]);
  std::ranges::sort(out);
  return out;
}

HeadMetrics plain_streaming(const PlainHead& head,
                            std::size_t tokens,
                            std::size_t sinks,
                            std::size_t recent,
                            bool in_cache) {
  HeadMetrics sum;
  sum.output_error = 0;
  for (std::size_t query = 0; query < tokens; ++query) {
    std::vector<std::size_t> all;
    std::vector<double> everywhere;
    for (std::size_t key = 0; key <= query; ++key) {
      all.push_back(key);
      everywhere.push_back(static_cast<double>(key));
    }
    const std::vector<std::size_t> keys = sinks_and_recent(query, sinks, recent);
    std::vector<double> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      places.push_back(static_cast<double>(in_cache ? i : keys[i]));
    }
    const std::vector<double> dense = head.row(query, all, everywhere);
    const std::vector<double> seen = head.row(query, keys, places);
    double kl = 0;
    double mass = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      mass += dense[keys[i]];
      kl += seen[i] * std::log(seen[i] / dense[keys[i]]);
    }
    std::vector<std::size_t> shared;
    const auto top_dense = largest(dense, all, 5);
    std::ranges::set_intersection(top_dense, largest(seen, keys, 5), std::back_inserter(shared));
    const std::vector<double> full = head.output(dense, all);
    const std::vector<double> part = head.output(seen, keys);
    double difference = 0;
    double norm = 0;
    for (std::size_t j = 0; j < full.size(); ++j) {
      difference += (part[j] - full[j]) * (part[j] - full[j]);
      norm += full[j] * full[j];
    }
    sum.retained_mass += mass;
    sum.kl_to_dense += kl;
    sum.topk_overlap += static_cast<double>(shared.size()) / static_cast<double>(top_dense.size());
    sum.output_error += std::sqrt(difference / norm);
  }
  const auto n = static_cast<double>(tokens);
  return {sum.retained_mass / n, sum.kl_to_dense / n, sum.topk_overlap / n, sum.output_error / n};
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

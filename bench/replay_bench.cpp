// Replay against the read of the same bytes, and eight policies against one.
//
// Rates are token-steps per second: one query of one head, fed to every cell of the benchmark.
#include <benchmark/benchmark.h>

#include "kvcheck/base/check.h"
#include "kvcheck/bench/bench_trace.h"
#include "kvcheck/bench/readers.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/replay.h"

namespace {

const kv::BenchShape shape;

const kv::Trace& attention() {
  static const kv::Trace trace = kv::bench_attention(shape);
  return trace;
}

const kv::Trace& qkv() {
  static const kv::Trace trace = kv::bench_qkv(shape);
  return trace;
}

std::uint64_t steps() {
  return shape.layers * shape.heads * shape.tokens;
}

// The bytes of all rows. A replay also reads the part above the diagonal, to check that it is zero.
std::uint64_t row_bytes() {
  return 2 * shape.layers * shape.heads * shape.tokens * shape.tokens;
}

void set_rates(benchmark::State& state, std::uint64_t bytes) {
  const auto done = static_cast<std::uint64_t>(state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(done * steps()));
  if (bytes > 0) state.SetBytesProcessed(static_cast<std::int64_t>(done * bytes));
}

// The bound: the rows of every layer are read, and nothing is done with them.
void BM_read_bound(benchmark::State& state) {
  const kv::Trace& trace = attention();
  kv::fastest_streams();  // which would otherwise be measured in the first iteration
  for (auto _ : state) {
    bool any = false;
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      any = kv::read_fastest(trace.layer(layer).attention.data, row_bytes() / shape.layers) || any;
    }
    benchmark::DoNotOptimize(any);
  }
  set_rates(state, row_bytes());
}

// Reading without deciding: rows are widened, checked and normalised, and their largest entries are
// found.
void BM_rows(benchmark::State& state, const kv::Trace& (*trace)(), std::size_t top_k) {
  const kv::TraceInfo& info = trace().info();
  const bool has_keys = info.kind == kv::TraceKind::qkv;
  const kv::RopeTable rope(info.rope, has_keys ? info.tokens : 0);
  for (auto _ : state) {
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      for (std::size_t head = 0; head < shape.heads; ++head) {
        std::shared_ptr<const kv::KeyValues> shared;
        if (has_keys) {
          shared = std::make_shared<kv::KeyValues>(trace(), layer, head, rope);
        }
        kv::DenseRows rows(trace(), layer, head, top_k, shared, rope);
        for (std::size_t query = 0; query < info.tokens; ++query) {
          const auto row = rows.load(static_cast<kv::Position>(query));
          KV_CHECK(row);
          benchmark::DoNotOptimize(row->mass.data());
        }
      }
    }
  }
  set_rates(state, has_keys ? 0 : row_bytes());
}

const std::vector<std::string> eight = {"window:budget=512",
                                        "streaming:budget=512",
                                        "random:budget=512",
                                        "reservoir:budget=512",
                                        "reservoir:budget=512,algorithm=l",
                                        "reservoir-as-printed:budget=512",
                                        "h2o:budget=512",
                                        "tova:budget=512"};

void BM_replay(benchmark::State& state,
               const kv::Trace& (*trace)(),
               const std::vector<std::string>& policies,
               unsigned threads,
               std::size_t top_k) {
  std::vector<kv::Cell> cells;
  cells.reserve(policies.size());
  for (const std::string& policy : policies) cells.push_back({*kv::parse_spec(policy), 1});
  kv::ReplayOptions options;
  options.threads = threads;
  options.top_k = top_k;
  const kv::Trace& replayed = trace();
  for (auto _ : state) {
    const auto result = kv::replay(replayed, cells, options);
    KV_CHECK(result);
    benchmark::DoNotOptimize(result->cells.data());
  }
  set_rates(state, 0);
}

void add(const std::string& name,
         const kv::Trace& (*trace)(),
         const std::vector<std::string>& policies,
         unsigned threads,
         std::size_t top_k = kv::ReplayOptions().top_k) {
  const std::string suffix = threads == 1 ? "/1 thread" : "/2 threads";
  benchmark::RegisterBenchmark((name + suffix).c_str(), BM_replay, trace, policies, threads, top_k)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

const bool registered = [] {
  const auto register_rows = [](const char* name, const kv::Trace& (*trace)(), std::size_t top_k) {
    benchmark::RegisterBenchmark(name, BM_rows, trace, top_k)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  benchmark::RegisterBenchmark("read bound", BM_read_bound)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  register_rows("rows/attention, top 0", attention, 0);
  register_rows("rows/attention, top 1", attention, 1);
  register_rows("rows/attention, top 16", attention, 16);
  register_rows("rows/qkv, top 16", qkv, 16);
  for (const unsigned threads : {1U, 2U}) {
    for (const std::string& policy : eight) {
      add("attention/" + policy.substr(0, policy.find(':')) +
              (policy.find("algorithm") == std::string::npos ? "" : " l"),
          attention, {policy}, threads);
    }
    add("attention/streaming, top 0", attention, {eight[1]}, threads, 0);
    add("attention/all eight", attention, eight, threads);
    add("qkv/streaming", qkv, {eight[1]}, threads);
    add("qkv/h2o", qkv, {eight[6]}, threads);
    add("qkv/all eight", qkv, eight, threads);
  }
  return true;
}();

}  // namespace

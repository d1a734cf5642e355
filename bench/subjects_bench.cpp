// The speed of subjects in other processes, in chunks per second over whole cases.
#include <benchmark/benchmark.h>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/process_family.h"

namespace {

// 32 chunks of two tokens per case, through the example in pure Python.
void BM_fed_chunks_python(benchmark::State& state) {
  const auto family = kv::properties::make_process_family("PYTHONPATH='" KVCHECK_SOURCE_DIR
                                                          "/python' python3 '" KVCHECK_SOURCE_DIR
                                                          "/examples/python/sink_window.py'");
  if (!family) {
    state.SkipWithError(family.error().message.c_str());
    return;
  }
  const kv::properties::Case what = kv::properties::feeding({.sinks = 2, .recent = 4, .budget = 12},
                                                            {}, std::vector<std::uint32_t>(32, 2));
  std::int64_t chunks = 0;
  for (auto _ : state) {
    const auto history = kv::properties::run_case(**family, what);
    if (!history->failure.empty()) state.SkipWithError(history->failure.c_str());
    chunks += static_cast<std::int64_t>(history->events.size());
  }
  state.SetItemsProcessed(chunks);
}

BENCHMARK(BM_fed_chunks_python)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

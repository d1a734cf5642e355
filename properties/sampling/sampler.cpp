#include "kvcheck/properties/sampling/sampler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/threads/run_tasks.h"

namespace kv::properties {

std::uint64_t stream_seed(std::uint64_t root, std::uint64_t r) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  constexpr std::uint32_t purpose = 0x73747265;  // apart from every draw that a cache makes
  const auto block = philox4x32({low(r), high(r), purpose, 0}, {low(root), high(root)});
  return (std::uint64_t{block[1]} << 32) | block[0];
}

std::uint64_t test_root(std::uint64_t seed, std::string_view name, std::uint32_t stage) {
  return stream_seed(seed_for(seed, name), (std::uint64_t{1} << 63) | stage);
}

Result<void> collect(Sampler& sampler,
                     std::uint64_t root,
                     std::uint64_t first,
                     std::uint64_t count,
                     Counts& counts) {
  Replicate replicate;
  for (std::uint64_t r = first; r < first + count; ++r) {
    if (auto done = sampler.sample(stream_seed(root, r), replicate); !done) return done;
    counts.add(replicate);
  }
  return {};
}

Result<Counts> collect_threads(const MakeSampler& make,
                               const CountsRequested& requested,
                               std::uint64_t root,
                               std::uint64_t count,
                               std::uint32_t threads,
                               const std::function<bool(std::uint64_t done)>& more) {
  const Shape shape = make()->shape();
  // Small enough that threads end together, large enough that the counter is not contended. Sums of
  // integers do not depend on which thread took which batch.
  const std::uint64_t batch =
      std::clamp<std::uint64_t>(count / (16 * std::uint64_t{threads}), 1, 1 + 1000000 / shape.n);
  std::vector<Counts> parts(threads, Counts(shape, requested));
  std::vector<std::unique_ptr<Sampler>> samplers(threads);
  std::atomic<std::uint64_t> finished = 0;
  const auto task = [&](const RunningTask& running) -> Result<void> {
    std::unique_ptr<Sampler>& sampler = samplers[running.worker()];
    if (!sampler) sampler = make();
    const std::uint64_t begin = running.index() * batch;
    const std::uint64_t size = std::min(batch, count - begin);
    Result<void> done = collect(*sampler, root, begin, size, parts[running.worker()]);
    finished += size;
    return done;
  };
  const auto ended = [&](std::size_t /*batches*/) { return !more || more(finished); };
  const Result<void> done =
      run_tasks((count + batch - 1) / batch, threads, task, {.progress = ended});
  if (!done) return done.error();
  Counts all = std::move(parts[0]);
  for (std::size_t worker = 1; worker < threads; ++worker) all.merge(parts[worker]);
  if (all.streams() < count) return Error{Error::Kind::busy, "stopped before all streams were run"};
  return all;
}

}  // namespace kv::properties

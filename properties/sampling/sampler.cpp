#include "kvcheck/properties/sampling/sampler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "kvcheck/base/random/rng.h"

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
  const std::uint64_t batch =
      std::clamp<std::uint64_t>(count / (16 * std::uint64_t{threads}), 1, 1 + 1000000 / shape.n);
  std::vector<Counts> parts(threads, Counts(shape, requested));
  std::vector<std::optional<Error>> errors(threads);
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> finished = 0;
  std::atomic<bool> stopped = false;
  const auto work = [&](std::size_t who) {
    const std::unique_ptr<Sampler> sampler = make();
    for (std::uint64_t first = next.fetch_add(batch); first < count && !stopped;
         first = next.fetch_add(batch)) {
      const std::uint64_t size = std::min(batch, count - first);
      if (const auto done = collect(*sampler, root, first, size, parts[who]); !done) {
        errors[who] = done.error();
        stopped = true;
      }
      finished += size;
      if (more && !more(finished)) stopped = true;
    }
  };
  std::vector<std::thread> helpers;
  for (std::size_t who = 1; who < threads; ++who) helpers.emplace_back(work, who);
  work(0);
  for (std::thread& helper : helpers) helper.join();
  for (const auto& error : errors) {
    if (error) return *error;
  }
  Counts all = std::move(parts[0]);
  for (std::size_t who = 1; who < threads; ++who) all.merge(parts[who]);
  if (all.streams() < count) return Error{Error::Kind::busy, "stopped before all streams were run"};
  return all;
}

}  // namespace kv::properties

// Streams shared out to threads: the same counts, the same error, and no thread that ends the
// program.
#include <algorithm>
#include <stdexcept>

#include "kvcheck/tests/properties/statistics_samplers.h"

namespace kv::properties {
namespace {

constexpr Shape small{.n = 12, .k = 4};

MakeSampler samplers(const Decide& decide) {
  return [decide] { return std::make_unique<DecidingSampler>(small, decide); };
}

TEST(CollectThreads, CountsDoNotDependOnTheNumberOfThreads) {
  const Counts one = counted(small, algorithm_r(), 7, 1000);
  for (const std::uint32_t threads : {1U, 2U, 5U, 8U}) {
    const auto counts = collect_threads(samplers(algorithm_r()), {}, 7, 1000, threads);
    ASSERT_TRUE(counts.has_value());
    EXPECT_EQ(counts->streams(), 1000U);
    EXPECT_TRUE(std::ranges::equal(counts->kept(), one.kept())) << threads;
  }
}

TEST(CollectThreads, WhatASamplerThrowsIsThrownToTheCaller) {
  const Decide broken = [](Draws&, std::uint32_t, std::uint32_t) -> std::uint32_t {
    throw std::runtime_error("no memory");
  };
  for (const std::uint32_t threads : {1U, 4U}) {
    EXPECT_THROW(static_cast<void>(collect_threads(samplers(broken), {}, 7, 100, threads)),
                 std::runtime_error);
  }
}

TEST(CollectThreads, StopsEarlyWithAnError) {
  const auto never = [](std::uint64_t) { return false; };
  const auto counts = collect_threads(samplers(algorithm_r()), {}, 7, 1000, 3, never);
  ASSERT_FALSE(counts.has_value());
  EXPECT_EQ(counts.error().kind, Error::Kind::busy);
}

}  // namespace
}  // namespace kv::properties

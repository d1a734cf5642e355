// Two stages on fresh data: one family error for a whole law, most of the time at the price of a
// coarse look.
//
// Every test of every step is looked at once. p below family/(2m) rejects at once, m the number of
// tests; p below 1e-3 calls for four times as many fresh streams, where p below
// family/(2m * 1e-3) rejects. A true law is rejected with at most `family`: m * family/(2m) plus
// m * 1e-3 * family/(2m * 1e-3). A single coarse look would need the fine level everywhere, and
// repeating until green would forgive.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {

inline constexpr double first_level = 1e-3;
inline constexpr std::uint64_t second_factor = 4;
inline constexpr double required_power = 0.99;

// One point of the ladder of sizes.
struct LadderStep {
  std::string where;  // "n=16 k=4 (sinks=1,recent=2,budget=7)"
  std::uint64_t streams = 0;

  // Runs so many streams of a root and tests them: the same tests in the same order whenever
  // streams are many enough.
  std::function<Result<std::vector<ChanceTest>>(std::uint64_t root, std::uint64_t streams)> run;

  double seconds = 0;  // that a stream takes; 0: unknown
};

struct Escalated {
  std::vector<Statistic> statistics;
  std::size_t tests = 0;

  // The first step, in the order given, with a rejected test, and that test; nothing: none.
  const LadderStep* smallest = nullptr;
  std::optional<std::size_t> rejected;  // index into statistics

  // The step last in order with a rejected test.
  const LadderStep* largest = nullptr;
};

// Tries the steps in order, the smallest first. `name` and `seed` fix all streams. The first error
// of a step ends it. The result's pointers are into `steps`. `seconds_left`, if not null, bounds
// the fresh streams, but never below those of the first look: how many depends on time and not on
// what they show, so that the error rate stands.
Result<Escalated> escalate(const std::vector<LadderStep>& steps,
                           std::string_view name,
                           std::uint64_t seed,
                           double family_error,
                           const std::function<double()>& seconds_left = {});

}  // namespace kv::properties

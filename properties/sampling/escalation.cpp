#include "kvcheck/properties/sampling/escalation.h"

#include <algorithm>
#include <optional>

#include "kvcheck/properties/sampling/sampler.h"

namespace kv::properties {
namespace {

struct Looked {
  std::size_t step = 0;
  ChanceTest test;
};

std::string place_of(const LadderStep& step, std::uint64_t streams, bool again) {
  return step.where + ", " + std::to_string(streams) + (again ? " fresh streams" : " streams");
}

// What both stages together would see: a deviation must pass both, so each may miss half of what
// may be missed.
double detectable_in_two(const ChanceTest& test, double second_level) {
  const double power = 1 - (1 - required_power) / 2;
  const double times = static_cast<double>(second_factor);
  return std::max(detectable(test, first_level, power),
                  detectable(test, std::min(second_level, 0.5), power, times));
}

// Suspicious, but not enough to reject on the first look alone.
bool doubtful(const ChanceTest& test, double each) {
  return test.statistic.p < first_level && test.statistic.p >= each;
}

struct Fresh {
  std::vector<ChanceTest> tests;
  std::uint64_t streams = 0;
};

std::uint64_t fresh_streams(const LadderStep& step, const std::function<double()>& seconds_left) {
  const std::uint64_t most = step.streams * second_factor;
  if (!seconds_left || step.seconds <= 0) return most;
  const double fit = std::max(0.0, seconds_left()) / step.seconds;
  return fit >= static_cast<double>(most) ? most
                                          : std::max(step.streams, static_cast<std::uint64_t>(fit));
}

// One look's statistic, from the fresh data where its first p was doubtful.
Statistic settled(const ChanceTest& look,
                  const LadderStep& step,
                  const std::optional<Fresh>& again,
                  double each) {
  Statistic statistic = look.statistic;
  const double second_level = each / first_level;
  const double seen = detectable_in_two(look, second_level);
  statistic.where = place_of(step, step.streams, false);
  statistic.level = each;
  if (again && doubtful(look, each)) {
    const auto same = std::ranges::find_if(again->tests, [&](const ChanceTest& test) {
      return test.statistic.name == statistic.name;
    });
    if (same != again->tests.end()) {
      statistic = same->statistic;
      statistic.where = place_of(step, again->streams, true);
      statistic.level = second_level;
    }
  }
  statistic.detectable = seen;
  statistic.rejected = statistic.p < statistic.level;
  return statistic;
}

}  // namespace

Result<Escalated> escalate(const std::vector<LadderStep>& steps,
                           std::string_view name,
                           std::uint64_t seed,
                           double family_error,
                           const std::function<double()>& seconds_left) {
  const auto run = [&](const LadderStep& step, std::uint32_t stage, std::uint64_t streams) {
    return step.run(test_root(seed, std::string(name) + " " + step.where, stage), streams);
  };
  Escalated result;
  std::vector<std::vector<ChanceTest>> looks;
  for (const LadderStep& step : steps) {
    Result<std::vector<ChanceTest>> tests = run(step, 1, step.streams);
    if (!tests) return tests.error();
    result.tests += tests->size();
    looks.push_back(*std::move(tests));
  }
  // A test may err at the first look, with `each`, and at the second: that one is reached with
  // probability first_level only, so its own level is each / first_level.
  const double each =
      family_error / (2 * static_cast<double>(std::max<std::size_t>(1, result.tests)));
  for (std::size_t c = 0; c < steps.size(); ++c) {
    std::optional<Fresh> again;
    // Once a smaller step is refuted, doubts about larger ones change nothing.
    if (!result.rejected && std::ranges::any_of(looks[c], [&](const ChanceTest& test) {
          return doubtful(test, each);
        })) {
      const std::uint64_t streams = fresh_streams(steps[c], seconds_left);
      Result<std::vector<ChanceTest>> tests = run(steps[c], 2, streams);
      if (!tests) return tests.error();
      again = Fresh{*std::move(tests), streams};
    }
    for (const ChanceTest& look : looks[c]) {
      result.statistics.push_back(settled(look, steps[c], again, each));
      if (!result.statistics.back().rejected) continue;
      if (!result.rejected) {
        result.rejected = result.statistics.size() - 1;
        result.smallest = &steps[c];
      }
      result.largest = &steps[c];
    }
  }
  return result;
}

}  // namespace kv::properties

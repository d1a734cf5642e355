#include "kvcheck/properties/sampling/escalation.h"

#include <algorithm>
#include <optional>

#include "kvcheck/properties/sampling/sampler.h"

namespace kv::properties {
namespace {

struct Looked {
  std::size_t cell = 0;
  ChanceTest test;
};

std::string place_of(const LadderCell& cell, std::uint64_t streams, bool again) {
  return cell.where + ", " + std::to_string(streams) + (again ? " fresh streams" : " streams");
}

// What both stages together would see, each with half of what may be missed.
double detectable_in_two(const ChanceTest& test, double second_level) {
  const double power = 1 - (1 - wanted_power) / 2;
  const double times = static_cast<double>(second_factor);
  return std::max(detectable(test, first_level, power),
                  detectable(test, std::min(second_level, 0.5), power, times));
}

bool doubtful(const ChanceTest& test, double each) {
  return test.statistic.p < first_level && test.statistic.p >= each;
}

struct Fresh {
  std::vector<ChanceTest> tests;
  std::uint64_t streams = 0;
};

std::uint64_t fresh_streams(const LadderCell& cell, const std::function<double()>& seconds_left) {
  const std::uint64_t most = cell.streams * second_factor;
  if (!seconds_left || cell.seconds <= 0) return most;
  const double fit = std::max(0.0, seconds_left()) / cell.seconds;
  return fit >= static_cast<double>(most) ? most
                                          : std::max(cell.streams, static_cast<std::uint64_t>(fit));
}

// One look's statistic, from the fresh data where its first p was doubtful.
Statistic settled(const ChanceTest& look,
                  const LadderCell& cell,
                  const std::optional<Fresh>& again,
                  double each) {
  Statistic statistic = look.statistic;
  const double second_level = each / first_level;
  const double seen = detectable_in_two(look, second_level);
  statistic.where = place_of(cell, cell.streams, false);
  statistic.level = each;
  if (again && doubtful(look, each)) {
    const auto same = std::ranges::find_if(again->tests, [&](const ChanceTest& test) {
      return test.statistic.name == statistic.name;
    });
    if (same != again->tests.end()) {
      statistic = same->statistic;
      statistic.where = place_of(cell, again->streams, true);
      statistic.level = second_level;
    }
  }
  statistic.detectable = seen;
  statistic.rejected = statistic.p < statistic.level;
  return statistic;
}

}  // namespace

Result<Escalated> escalate(const std::vector<LadderCell>& cells,
                           std::string_view name,
                           std::uint64_t seed,
                           double family_error,
                           const std::function<double()>& seconds_left) {
  const auto run = [&](const LadderCell& cell, std::uint32_t stage, std::uint64_t streams) {
    return cell.run(test_root(seed, std::string(name) + " " + cell.where, stage), streams);
  };
  Escalated result;
  std::vector<std::vector<ChanceTest>> looks;
  for (const LadderCell& cell : cells) {
    Result<std::vector<ChanceTest>> tests = run(cell, 1, cell.streams);
    if (!tests) return tests.error();
    result.tests += tests->size();
    looks.push_back(*std::move(tests));
  }
  const double each =
      family_error / (2 * static_cast<double>(std::max<std::size_t>(1, result.tests)));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::optional<Fresh> again;
    // Once a smaller cell is refuted, doubts about larger ones change nothing.
    if (!result.rejected && std::ranges::any_of(looks[c], [&](const ChanceTest& test) {
          return doubtful(test, each);
        })) {
      const std::uint64_t streams = fresh_streams(cells[c], seconds_left);
      Result<std::vector<ChanceTest>> tests = run(cells[c], 2, streams);
      if (!tests) return tests.error();
      again = Fresh{*std::move(tests), streams};
    }
    for (const ChanceTest& look : looks[c]) {
      result.statistics.push_back(settled(look, cells[c], again, each));
      if (!result.statistics.back().rejected) continue;
      if (!result.rejected) {
        result.rejected = result.statistics.size() - 1;
        result.smallest = &cells[c];
      }
      result.largest = &cells[c];
    }
  }
  return result;
}

}  // namespace kv::properties

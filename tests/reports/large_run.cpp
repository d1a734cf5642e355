#include "kvcheck/tests/reports/large_run.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::testing {
namespace {

constexpr std::size_t tokens = 4096;
constexpr std::size_t heads = 24;
constexpr std::size_t budget = 256;
constexpr std::size_t sinks = 4;
constexpr std::size_t tail = 32;  // the newest, which are not evicted

// One unit, with a random victim at every token after the budget is full.
UnitSteps random_unit(std::size_t head, const Rng& rng) {
  UnitSteps steps{.residency = {.layer = 0, .head = head, .evicted_at = {}},
                  .slots = {},
                  .retained = {},
                  .mass = {},
                  .decisions = {}};
  steps.residency.evicted_at.assign(tokens, static_cast<Position>(tokens + 1));
  std::vector<Position> residents;
  for (Position seen = 1; seen <= tokens; ++seen) {
    residents.push_back(seen - 1);
    if (residents.size() <= budget) continue;
    const std::size_t rank = sinks + rng.below(budget - sinks - tail, seen);
    const auto victim = residents.begin() + static_cast<std::ptrdiff_t>(rank);
    steps.residency.evicted_at[*victim] = seen;
    Decision decision{.seen = seen,
                      .candidates = budget - sinks - tail,
                      .victims = {{*victim, rng.uniform(seen, 1)}},
                      .next = {}};
    for (std::size_t i = 0; i < 8; ++i) {
      decision.next.push_back(
          {residents[sinks + 20 * i], rng.uniform(seen, static_cast<std::uint32_t>(2 + i))});
    }
    steps.decisions.push_back(std::move(decision));
    residents.erase(victim);
  }
  return steps;
}

// Attention, slots and retained mass of the unit.
void add_arrays(UnitSteps& steps, const Rng& rng) {
  for (Position seen = 1; seen <= tokens; ++seen) {
    steps.slots.push_back(static_cast<Slot>(rng.below(budget + 1, seen, 20)));
    steps.retained.push_back(static_cast<float>(rng.uniform(seen, 21)));
    const std::size_t visible = std::min<std::size_t>(seen, budget + 1);
    const std::size_t begin = steps.mass.size();
    double sum = 0;
    for (std::size_t rank = 0; rank < visible; ++rank) {
      const double weight =
          std::pow(rng.uniform(seen, static_cast<std::uint32_t>(100 + rank)) + 1e-6, -0.8);
      steps.mass.push_back(static_cast<float>(rank == 0 ? 20 * weight : weight));
      sum += steps.mass.back();
    }
    for (std::size_t i = begin; i < steps.mass.size(); ++i) {
      steps.mass[i] /= static_cast<float>(sum);
    }
  }
}

}  // namespace

LargeRun large_run() {
  LargeRun large;
  large.run.summary.id = 1;
  large.run.summary.command = "kvcheck replay";
  // The facts of a trace, with other sizes.
  ReplayResult result = fake_replay(small_fake());
  result.trace.tokens = tokens;
  result.trace.layers = {0};
  result.trace.query_heads = heads;
  result.trace.kv_heads = heads;
  result.cells.clear();
  large.trace.checksum = result.trace.checksum;
  for (const char* const policy :
       {"h2o", "tova", "window", "streaming", "reservoir", "random", "fifo", "lru"}) {
    const std::size_t index = result.cells.size();
    CellResult cell;
    cell.cell = {.spec = parse_spec(policy, {.budget = budget}).value(), .seed = 1};
    for (std::size_t head = 0; head < heads; ++head) {
      const Rng rng(index, stream_of(0, head));
      UnitSteps steps = random_unit(head, rng);
      cell.residency.push_back(steps.residency);
      if (head > 0) continue;
      add_arrays(steps, rng);
      large.trace.steps.push_back(reports::explorer_steps(index, steps));
    }
    result.cells.push_back(std::move(cell));
  }
  large.run.traces.push_back(std::move(result));
  return large;
}

}  // namespace kv::testing

#include "kvcheck/sim/retained/retained.h"

#include <cmath>

#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

// Query i pays 1, 2, ... i + 1 parts to its keys in head 0, and the same backwards in head 1.
Trace ramps(std::size_t tokens) {
  const auto weight = [](std::size_t, std::size_t head, std::size_t query, std::size_t key) {
    return static_cast<double>(head == 0 ? key + 1 : query + 1 - key);
  };
  return attention_trace({.tokens = tokens, .layers = 1, .query_heads = 2, .kv_heads = 1}, weight);
}

Retained retained(const SeenUnit& unit, bool optimum = true) {
  const Trace trace = ramps(unit.seen.size());
  const TraceRotations rotations(trace.info(), trace.info().tokens);
  const auto result = retained_by(trace, rotations, unit, optimum);
  EXPECT_TRUE(result.has_value());
  return *result;
}

TEST(Retained, IsTheMeanOfWhatQueriesAndHeadsSee) {
  const std::vector<std::vector<Position>> seen = {{0}, {1}, {1, 2}};
  // Head 0: 1, 2/3, 5/6. Head 1: 1, 1/3, 3/6.
  EXPECT_NEAR(retained({.heads = 1, .seen = seen}).mass, (1 + 2. / 3 + 5. / 6) / 3, 1e-6);
  EXPECT_NEAR(retained({.first_head = 1, .heads = 1, .seen = seen}).mass, (1 + 1. / 3 + 3. / 6) / 3,
              1e-6);
  const Retained both = retained({.heads = 2, .seen = seen});
  EXPECT_NEAR(both.mass, (2 + 1 + 8. / 6) / 6, 1e-6);
  EXPECT_NEAR(both.visible, 4. / 3, 1e-12);
}

TEST(Retained, NoOtherSetsOfTheseSizesRetainMoreThanTheOptimum) {
  const Retained newest = retained({.heads = 1, .seen = {{0}, {1}, {1, 2}, {2, 3}}});
  // Head 0 prefers new tokens, so this is the best that there is.
  EXPECT_NEAR(newest.optimum, newest.mass, 1e-6);
  const Retained oldest = retained({.heads = 1, .seen = {{0}, {1}, {1, 2}, {1, 3}}});
  EXPECT_LT(oldest.mass, oldest.optimum - 0.01);
  EXPECT_NEAR(oldest.optimum, newest.optimum, 1e-6);
  EXPECT_GE(oldest.per_step, oldest.optimum - 1e-6);
}

TEST(Retained, TokensThatReturnHaveNoOptimum) {
  const SeenUnit returns{.heads = 1, .seen = {{0}, {1}, {0, 2}}};
  EXPECT_TRUE(std::isnan(retained(returns).optimum));
  EXPECT_GT(retained(returns).per_step, 0);
  EXPECT_TRUE(std::isnan(retained({.heads = 1, .seen = {{0}, {0, 1}}}, false).optimum));
}

}  // namespace
}  // namespace kv

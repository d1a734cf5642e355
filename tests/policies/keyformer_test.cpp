#include "kvcheck/policies/attention/keyformer.h"

#include <rapidcheck.h>

#include <cmath>

#include "kvcheck/policies/attention/h2o.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

// The temperature is steady where it does not rise, has no way to go, or waits for a prompt's end.
void expect_h2o(const KeyformerOptions& options) {
  EXPECT_TRUE(rc::check([&] {
    const auto keyformer = make_keyformer(options);
    const auto h2o = make_h2o(Normalise::none);
    ScriptedDraws draws;
    MiniCache one{.sinks = 1, .recent = 2, .capacity = 4};
    MiniCache other = one;
    for (int t = 0; t < 30; ++t) {
      const std::size_t n = one.residents.size() + 1;
      std::vector<float> row;
      for (const int eighths :
           *rc::gen::container<std::vector<int>>(n, rc::gen::resize(100, rc::gen::inRange(0, 4)))) {
        row.push_back(static_cast<float>(eighths) / 8);
      }
      feed_row(one, *keyformer, draws, row);
      feed_row(other, *h2o, draws, row);
      RC_ASSERT(one.residents == other.residents);
    }
  }));
}

TEST(Keyformer, IsH2oWithoutNoiseAndWithASteadyTemperature) {
  expect_h2o({.noise = false, .step = 0});
  expect_h2o({.noise = false, .step = 10, .end = 1});
  expect_h2o({.noise = false, .step = 10, .prompt = 30});
}

// u = e^-1 is no noise and u = e^-2 is -ln 2. Of two tokens with half of a query each, the one with
// that noise gets a third and is evicted.
std::vector<Position> kept_with(double u_of_1, double u_of_2) {
  const auto policy = make_keyformer({.step = 0});
  ScriptedDraws draws;
  const double none = std::exp(-1.0);
  draws.uniforms = {none, none, none, none, u_of_1, u_of_2};
  MiniCache cache{.capacity = 2};
  for (const auto& row : {std::vector<float>{1}, {1, 0}, {0, 0.5F, 0.5F}}) {
    feed_row(cache, *policy, draws, row);
  }
  using Asked = ScriptedDraws::Asked;
  EXPECT_EQ(draws.asked.back(), (Asked{0, 2, 2}));
  return cache.residents;
}

TEST(Keyformer, DropsTheTokenThatTheNoiseDisfavours) {
  EXPECT_THAT(kept_with(std::exp(-2.0), std::exp(-1.0)), testing::ElementsAre(0, 2));
  EXPECT_THAT(kept_with(std::exp(-1.0), std::exp(-2.0)), testing::ElementsAre(0, 1));
}

TEST(Keyformer, KeepsOtherTokensUnderOtherSeeds) {
  std::vector<std::vector<Position>> kept;
  for (const std::uint32_t stream : {1U, 2U}) {
    const auto policy = make_keyformer({});
    CounterDraws draws(Rng(3, stream));
    MiniCache cache{.recent = 4, .capacity = 4};
    for (int t = 0; t < 60; ++t) {
      // Later tokens get more, so that they can win.
      const std::size_t n = cache.residents.size() + 1;
      std::vector<float> row;
      for (std::size_t i = 1; i <= n; ++i) {
        row.push_back(static_cast<float>(2 * i) / static_cast<float>(n * (n + 1)));
      }
      feed_row(cache, *policy, draws, row);
    }
    kept.push_back(cache.residents);
  }
  EXPECT_NE(kept[0], kept[1]);
}

// With step 1, tau is 1, 2 and 3. Query 1 pays 0.8 and 0.2: at tau 2 that is 0.667 and 0.333. Query
// 2 pays 0.001, 0.35 and 0.649: at tau 3 that is 0.060, 0.422 and 0.518. So 1 has 0.755 and 2 is
// evicted; by plain sums 1 would be evicted, with 0.55 against 0.649.
TEST(Keyformer, EvensOutWhatLaterQueriesSay) {
  for (const double step : {0.0, 1.0}) {
    const auto policy = make_keyformer({.noise = false, .step = step, .end = 3});
    ScriptedDraws draws;
    MiniCache cache{.capacity = 2};
    for (const auto& row : {std::vector<float>{1}, {0.8F, 0.2F}, {0.001F, 0.35F, 0.649F}}) {
      feed_row(cache, *policy, draws, row);
    }
    EXPECT_THAT(cache.residents, testing::ElementsAre(0, step > 0 ? 1 : 2));
  }
}

// Query 2 is the first after a prompt of two: at tau 1 + 1 it pays 1 and 2 what it pays them at 2.
TEST(Keyformer, CountsAPromptAsOneIteration) {
  const std::vector<std::vector<float>> rows = {{1}, {0.9F, 0.1F}, {0.01F, 0.41F, 0.58F}};
  for (const std::size_t prompt : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const auto policy = make_keyformer({.noise = false, .step = 1, .end = 2, .prompt = prompt});
    ScriptedDraws draws;
    MiniCache cache{.capacity = 2};
    for (const auto& row : rows) feed_row(cache, *policy, draws, row);
    // Token 1 has 0.25 + 0.42, 0.1 + 0.42, or 0.1 + 0.41; token 2 has 0.50, 0.50, or 0.58.
    EXPECT_THAT(cache.residents, testing::ElementsAre(0, prompt < 3 ? 1 : 2)) << prompt;
  }
}

// Token 4 gets all attention, but the selection was made at the first trim.
TEST(Keyformer, NeverLetsALaterTokenInIfItSelectsOnce) {
  for (const bool once : {false, true}) {
    const auto policy = make_keyformer({.noise = false, .step = 0, .once = once});
    ScriptedDraws draws;
    MiniCache cache{.capacity = 2};
    for (const auto& row :
         {std::vector<float>{1}, {0.5F, 0.5F}, {0.5F, 0.5F, 0}, {0, 0, 1}, {0, 0, 1}}) {
      feed_row(cache, *policy, draws, row);
    }
    EXPECT_THAT(cache.residents, testing::ElementsAre(0, once ? 1 : 4));
  }
}

}  // namespace
}  // namespace kv

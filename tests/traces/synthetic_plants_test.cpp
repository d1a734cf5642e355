// What each generator promises of its own, read from the rows and the spec's numbers alone.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kvcheck/tests/traces/synthetic_helpers.h"

namespace kv::synthetic_test {
namespace {

// The positions of the n largest entries, largest first.
std::vector<Position> largest(const std::vector<double>& row, std::size_t n) {
  std::vector<Position> order(row.size());
  for (Position j = 0; j < order.size(); ++j) order[j] = j;
  std::stable_sort(order.begin(), order.end(),
                   [&](Position a, Position b) { return row[a] > row[b]; });
  order.resize(n);
  return order;
}

TEST(SinkRecency, DividesTheWeightByEForEachDecayOfAge) {
  const Trace trace = make("sink-recency:tokens=300,sinks=3,mass=0.4,decay=20,noise=0");
  const std::vector<double> row = stored_row(trace, 0, 2, 250);
  EXPECT_NEAR(row[0] + row[1] + row[2], 0.4, 1e-6);
  for (Position j = 180; j < 250; ++j) {
    EXPECT_NEAR(row[j] / row[j + 1], std::exp(-1.0 / 20), 1e-6);
  }
  EXPECT_NEAR(row[230] / row[250], std::exp(-1.0), 1e-6);
}

TEST(SinkRecency, HasNoSinksWhenAskedForNone) {
  const Trace trace = make("sink-recency:tokens=100,sinks=0,decay=10,noise=0");
  const std::vector<double> row = stored_row(trace, 0, 0, 99);
  EXPECT_NEAR(row[0] / row[1], std::exp(-0.1), 1e-5);
  EXPECT_NEAR(row[99], 1 - std::exp(-0.1), 1e-4);
}

TEST(Zipf, KeepsTheSameHittersByTheirRanks) {
  const Trace trace =
      make("zipf:tokens=400,hitters=5,exponent=1.5,mass=0.7,within=60,decay=1000,noise=0");
  const std::vector<double> early = stored_row(trace, 0, 3, 80);
  const std::vector<double> late = stored_row(trace, 0, 3, 399);
  const std::vector<Position> hitters = largest(late, 5);
  EXPECT_EQ(largest(early, 5), hitters);
  const double total =
      1 + std::pow(2, -1.5) + std::pow(3, -1.5) + std::pow(4, -1.5) + std::pow(5, -1.5);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_LT(hitters[i], 60U);
    const double expected = 0.7 * std::pow(static_cast<double>(i + 1), -1.5) / total;
    EXPECT_NEAR(early[hitters[i]], expected, 1e-6);
    EXPECT_NEAR(late[hitters[i]], expected, 1e-6);
  }
}

TEST(Drift, ReplacesTheHittersAtEachPeriod) {
  const Trace trace =
      make("drift:tokens=400,hitters=4,exponent=0,mass=0.8,period=100,decay=1000,noise=0");
  for (Position epoch = 1; epoch < 4; ++epoch) {
    const std::vector<double> first = stored_row(trace, 0, 1, 100 * epoch);
    const std::vector<double> last = stored_row(trace, 0, 1, 100 * epoch + 99);
    for (const Position hitter : largest(first, 4)) {
      EXPECT_EQ(hitter / 100, epoch - 1);
      EXPECT_NEAR(first[hitter], 0.2, 1e-6);
      EXPECT_NEAR(last[hitter], 0.2, 1e-6);
      if (epoch == 3) continue;
      EXPECT_LT(stored_row(trace, 0, 1, 100 * epoch + 100)[hitter], 1e-9);
    }
  }
  const std::vector<double> before = stored_row(trace, 0, 1, 99);
  EXPECT_LT(before[largest(before, 1)[0]], 0.02);
}

TEST(Needle, IsAttendedOnArrivalIgnoredAndAskedForAgain) {
  const Trace trace =
      make("needle:tokens=300,position=40,spread=0,attended=3,ask_at=200,ask_every=50,mass=0.75");
  for (Position t = 40; t < 300; ++t) {
    const double weight = stored_row(trace, 0, 0, t)[40];
    if (t < 43 || t == 200 || t == 250) {
      EXPECT_NEAR(weight, 0.75, 1e-6) << t;
    } else {
      EXPECT_LT(weight, 2e-9) << t;
    }
  }
}

TEST(Needle, IsAskedForOnceWhenNothingIsSaidOfMore) {
  const SyntheticSpec spec =
      spec_of("needle:tokens=300,position=40,spread=5,attended=0,ask_at=200,ask_every=0");
  const std::vector<Plant> plants = planted(spec, 0, 0).plants;
  ASSERT_EQ(plants.size(), 1U);
  EXPECT_EQ(plants[0].queries, (std::vector<kv::Run>{{200, 201}}));
}

TEST(Needle, LiesElsewhereForOtherHeads) {
  const SyntheticSpec spec = spec_of("needle:heads=64,position=50,spread=3");
  std::set<Position> seen;
  for (std::size_t head = 0; head < 64; ++head) {
    seen.insert(planted(spec, 0, head).plants.at(0).keys.at(0).position);
  }
  EXPECT_EQ(seen, (std::set<Position>{50, 51, 52, 53}));
}

TEST(Topics, AskForTheAnchorsOfAllBlocksOfTheTopic) {
  const SyntheticSpec spec =
      spec_of("topics:tokens=960,topics=3,block=40,anchors=5,mass=0.6,decay=30,noise=0");
  const Trace trace = make_synthetic(spec);
  std::map<Position, std::size_t> blocks_of_topics;
  for (const Plant& plant : planted(spec, 0, 2).plants) {
    ++blocks_of_topics[static_cast<Position>(plant.queries.size())];
    for (std::size_t visit = 0; visit < plant.queries.size(); ++visit) {
      const kv::Run block = plant.queries[visit];
      EXPECT_EQ(block.size(), 40U);
      const std::vector<double> row = stored_row(trace, 0, 2, block.last - 1);
      const double each = 0.6 / (5.0 * static_cast<double>(visit + 1));
      for (const PlantedKey& key : plant.keys) {
        EXPECT_NEAR(row[key.position], key.position < block.last ? each : 0, 1e-6);
      }
    }
    // It came back after another topic, at least twice.
    ASSERT_GE(plant.queries.size(), 3U);
    for (std::size_t i = 1; i < plant.queries.size(); ++i) {
      EXPECT_GT(plant.queries[i].first, plant.queries[i - 1].last);
    }
  }
}

TEST(Uniform, IsExactlyEvenWithoutNoiseAndSpreadAsStatedWithIt) {
  const Trace even = make("uniform:tokens=128,heads=1,noise=0");
  for (Position j = 0; j < 128; ++j) {
    EXPECT_EQ(stored_row(even, 0, 0, 127)[j], 1.0 / 128);
  }
  const Trace noisy = make("uniform:tokens=600,heads=1,noise=0.5");
  double squares = 0;
  std::size_t n = 0;
  for (Position t = 200; t < 600; ++t) {
    const std::vector<double> row = stored_row(noisy, 0, 0, t);
    double mean = 0;
    for (Position j = 0; j <= t; ++j) mean += std::log(row[j]) / (t + 1);
    for (Position j = 0; j <= t; ++j) squares += std::pow(std::log(row[j]) - mean, 2);
    n += t + 1;
  }
  // 400 queries draw their own scale: its relative spread is 1/(2 sqrt(400 * 8 / 2)) or 1.3 %.
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(n)), 0.5, 0.04);
}

TEST(Ties, AreExactForEveryKeyAndWithinLevels) {
  const Trace all = make("ties:tokens=100,heads=1");
  const std::vector<double> row = stored_row(all, 0, 0, 98);
  EXPECT_EQ(std::set<double>(row.begin(), row.begin() + 99).size(), 1U);

  const std::vector<double> levels = stored_row(make("ties:tokens=200,levels=3"), 0, 1, 199);
  const std::set<double> weights(levels.begin(), levels.end());
  ASSERT_EQ(weights.size(), 3U);
  const std::vector<double> sorted(weights.begin(), weights.end());
  EXPECT_NEAR(sorted[1] / sorted[0], 2, 1e-6);
  EXPECT_NEAR(sorted[2] / sorted[0], 4, 1e-6);
}

TEST(OneHot, AsksAWindowForWhatItHasJustDropped) {
  const Trace trace = make("one-hot:tokens=200,heads=1,budget=16,recent=16");
  for (Position t = 0; t < 200; ++t) {
    const Position requested = t <= 16 ? t : t - 17;
    EXPECT_GT(stored_row(trace, 0, 0, t)[requested], 0.999999) << t;
  }
}

// A cache that keeps the keys of most attention so far and protects the youngest four.
TEST(OneHot, IsNeverKeptByTheCacheItPlaysAgainst) {
  const Trace trace = make("one-hot:tokens=300,heads=1,budget=16,recent=4");
  std::map<Position, double> gathered;
  double retained = 0;
  std::set<Position> targets;
  for (Position t = 0; t < 300; ++t) {
    gathered[t] = 0;
    const std::vector<double> row = stored_row(trace, 0, 0, t);
    double kept = 0;
    for (auto& [position, mass] : gathered) {
      kept += row[position];
      mass += std::round(row[position]);
    }
    if (t > 16) retained += kept;
    if (t > 16) targets.insert(largest(row, 1)[0]);
    if (gathered.size() <= 16) continue;
    auto victim = gathered.begin();
    for (auto it = gathered.begin(); it->first + 4 <= t; ++it) {
      if (it->second < victim->second) victim = it;
    }
    gathered.erase(victim);
  }
  EXPECT_LT(retained, 1e-5);
  EXPECT_GT(targets.size(), 250U);
}

}  // namespace
}  // namespace kv::synthetic_test

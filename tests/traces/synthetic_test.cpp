// What holds for every generator: rows, what planted() states, chance.
#include "kvcheck/traces/synthetic/synthetic.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>

#include "kvcheck/tests/traces/synthetic_helpers.h"

namespace kv::synthetic_test {
namespace {

class EveryGenerator : public testing::TestWithParam<std::string> {};

std::string name_of(const testing::TestParamInfo<std::string>& test) {
  std::string word = test.param.substr(0, test.param.find(':'));
  std::erase(word, '-');
  return word;
}

INSTANTIATE_TEST_SUITE_P(Synthetic, EveryGenerator, testing::ValuesIn(small_specs()), name_of);

bool same_bytes(const Trace& a, const Trace& b, const std::vector<Position>& queries) {
  for (std::size_t head = 0; head < a.info().query_heads; ++head) {
    for (const Position t : queries) {
      std::vector<double> left = stored_row(a, 0, head, t);
      std::vector<double> right = stored_row(b, 0, head, t);
      left.resize(t + 1);
      right.resize(t + 1);
      if (left != right) return false;
    }
  }
  return true;
}

// Whether query t sees a key that the plant does not name.
bool sees_others(const Plant& plant, Position t) {
  std::size_t seen = 0;
  for (const PlantedKey& key : plant.keys) seen += key.position <= t ? 1 : 0;
  return seen < t + 1;
}

void expect_plant(const Plant& plant, const std::vector<double>& row, Position t) {
  double shares = 0;
  for (const PlantedKey& key : plant.keys) shares += key.position <= t ? key.share : 0;
  if (shares <= 0) return;
  const double mass = sees_others(plant, t) ? plant.mass : 1;
  for (const PlantedKey& key : plant.keys) {
    if (key.position > t) continue;
    EXPECT_NEAR(row[key.position], mass * key.share / shares, 1e-7) << t << " " << key.position;
  }
}

bool runs_hold(const Plant& plant, Position t) {
  return std::any_of(plant.queries.begin(), plant.queries.end(),
                     [t](const Run& run) { return run.first <= t && t < run.last; });
}

TEST(SyntheticTraces, AreMadeUntilTheyAreNoLongerRequested) {
  for (const char* const kind : {"attention", "qkv"}) {
    const auto spec =
        parse_synthetic("zipf:tokens=3000,heads=2,layers=2,kind=" + std::string(kind));
    ASSERT_TRUE(spec) << spec.error().message;
    int asked = 0;
    EXPECT_FALSE(make_synthetic(*spec, [&] { return ++asked < 2; }));
    EXPECT_EQ(asked, 2);
    asked = 0;
    const auto made = make_synthetic(*spec, [&] { return ++asked > 0; });
    ASSERT_TRUE(made);
    // Each of 18 million pairs takes some ten nanoseconds.
    EXPECT_THAT(asked, testing::AllOf(testing::Ge(3), testing::Le(10)));
    EXPECT_EQ(made->info().name, make_synthetic(*spec).info().name);
  }
}

// Bytes of this process that are in memory.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(SyntheticTraces, AskBeforeAllOfTheirMemoryIsTouched) {
  const auto spec = parse_synthetic("zipf:tokens=8192,heads=4");
  ASSERT_TRUE(spec);
  const std::size_t before = resident_bytes();
  std::size_t then = 0;
  EXPECT_FALSE(make_synthetic(*spec, [&] {
    then = resident_bytes();
    return false;
  }));
  EXPECT_GT(then, before);
  EXPECT_LT(then, before + synthetic_bytes(*spec) / 2);
}

TEST(SyntheticTraces, HoldZeroAboveTheDiagonal) {
  // Memory that was used before is not zero.
  std::vector<std::vector<unsigned char>> used(64, std::vector<unsigned char>(9000, 0xFF));
  used.clear();
  const Trace trace = make("zipf:tokens=24,heads=4");
  const TensorView& rows = trace.layer(0).attention;
  for (std::size_t row = 0; row < std::size_t{4} * 24; ++row) {
    for (std::size_t key = row % 24 + 1; key < 24; ++key) {
      EXPECT_EQ(number_at(rows, row * 24 + key), 0) << row << " " << key;
    }
  }
}

TEST(SyntheticRegistry, HasASmallSpecOfEachGeneratorUnderTest) {
  std::vector<std::string> tested;
  for (const std::string& spec : small_specs()) tested.push_back(spec.substr(0, spec.find(':')));
  std::vector<std::string> registered;
  for (const SyntheticEntry& entry : synthetic_registry()) registered.emplace_back(entry.name);
  EXPECT_EQ(tested, registered);
}

TEST_P(EveryGenerator, MakesCausalRowsThatSumToOne) {
  const Trace trace = make(GetParam());
  for (std::size_t head = 0; head < 2; ++head) {
    for (Position t = 0; t < 201; ++t) {
      const std::vector<double> row = stored_row(trace, 0, head, t);
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-6) << t;
      for (Position j = 0; j < 201; ++j) {
        if (j > t) {
          ASSERT_EQ(row[j], 0) << t << " " << j;
        } else {
          ASSERT_GE(row[j], 0) << t << " " << j;
        }
      }
    }
  }
}

TEST_P(EveryGenerator, MakesTheRowsThatItWouldStore) {
  for (const std::string number : {"f32", "f16"}) {
    const SyntheticSpec spec = spec_of(GetParam() + ",dtype=" + number);
    const Trace stored = make_synthetic(spec);
    const Trace stream = synthetic_stream(spec);
    EXPECT_EQ(stream.info().checksum, stored.info().checksum);
    EXPECT_EQ(stored.row_maker(0, 0), nullptr);
    for (std::size_t head = 0; head < spec.heads; ++head) {
      const auto maker = stream.row_maker(0, head);
      // In another order than that of the stream.
      for (Position t = static_cast<Position>(spec.tokens); t-- > 0;) {
        std::vector<float> row(t + std::size_t{1});
        maker->make(t, row);
        const std::vector<double> expected = stored_row(stored, 0, head, t);
        ASSERT_TRUE(std::equal(row.begin(), row.end(), expected.begin())) << head << " " << t;
      }
    }
  }
}

TEST_P(EveryGenerator, GivesEachPlantItsMassInProportionToTheShares) {
  const SyntheticSpec spec = spec_of(GetParam());
  const Trace trace = make_synthetic(spec);
  for (std::size_t head = 0; head < 2; ++head) {
    for (const Plant& plant : planted(spec, 0, head).plants) {
      for (const kv::Run& run : plant.queries) {
        ASSERT_LT(run.first, run.last);
        ASSERT_LE(run.last, spec.tokens);
        for (Position t = run.first; t < run.last; ++t) {
          expect_plant(plant, stored_row(trace, 0, head, t), t);
        }
      }
    }
  }
}

TEST_P(EveryGenerator, GivesAPlantNothingOutsideItsQueries) {
  const SyntheticSpec spec = spec_of(GetParam());
  const Trace trace = make_synthetic(spec);
  const std::vector<Plant> plants = planted(spec, 0, 1).plants;
  for (Position t = 0; t < spec.tokens; ++t) {
    const std::vector<double> row = stored_row(trace, 0, 1, t);
    std::set<Position> requested;
    for (const Plant& plant : plants) {
      if (!runs_hold(plant, t)) continue;
      for (const PlantedKey& key : plant.keys) requested.insert(key.position);
    }
    for (const Plant& plant : plants) {
      for (const PlantedKey& key : plant.keys) {
        if (key.position >= t || requested.contains(key.position)) continue;
        ASSERT_LE(row[key.position], silent_mass) << t << " " << key.position;
      }
    }
  }
}

TEST_P(EveryGenerator, MakesTheSameTraceTwice) {
  EXPECT_TRUE(same_bytes(make(GetParam()), make(GetParam()), {0, 1, 50, 99, 200}));
}

TEST_P(EveryGenerator, StartsALongerStreamWithTheRowsOfAShorterOne) {
  std::string longer = GetParam();
  longer.replace(longer.find("tokens=201"), 10, "tokens=263");
  EXPECT_TRUE(same_bytes(make(GetParam()), make(longer), {0, 1, 23, 24, 77, 120, 199, 200}));
}

TEST_P(EveryGenerator, DrawsOtherRowsForAnotherSeedUnlessItsRuleIsFixed) {
  const Trace trace = make(GetParam());
  const Trace other = make(GetParam() + ",seed=2");
  const bool fixed = GetParam().starts_with("one-hot");
  EXPECT_EQ(same_bytes(trace, other, {60, 150, 200}), fixed);
  EXPECT_NE(trace.info().checksum, other.info().checksum);
}

TEST_P(EveryGenerator, DrawsOtherPlantsOrNoiseForEachHead) {
  const Trace trace = make(GetParam());
  const bool fixed = GetParam().starts_with("one-hot");
  EXPECT_EQ(stored_row(trace, 0, 0, 180) == stored_row(trace, 0, 1, 180), fixed);
}

TEST_P(EveryGenerator, SharesPlantsAmongTheQueryHeadsOfAKvHead) {
  const SyntheticSpec spec = spec_of(GetParam() + ",kv_heads=1");
  const Trace trace = make_synthetic(spec);
  for (const Plant& plant : planted(spec, 0, 0).plants) {
    for (const kv::Run& run : plant.queries) {
      const Position t = run.last - 1;
      expect_plant(plant, stored_row(trace, 0, 0, t), t);
      expect_plant(plant, stored_row(trace, 0, 1, t), t);
    }
  }
}

TEST_P(EveryGenerator, DescribesItsTrace) {
  const SyntheticSpec spec = spec_of(GetParam() + ",layers=3");
  const TraceInfo info = make_synthetic(spec).info();
  EXPECT_EQ(info.name, spec.canonical());
  EXPECT_EQ(info.kind, TraceKind::attention);
  EXPECT_EQ(info.tokens, 201U);
  EXPECT_EQ(info.query_heads, 2U);
  EXPECT_EQ(info.kv_heads, 2U);
  EXPECT_EQ(info.layers, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(info.number, Number::f32);
  EXPECT_EQ(info.source, "kvcheck trace generate " + spec.canonical());
}

TEST_P(EveryGenerator, StoresHalfPrecisionRowsWithinItsRounding) {
  const Trace exact = make(GetParam());
  const Trace half = make(GetParam() + ",dtype=f16");
  ASSERT_EQ(half.info().number, Number::f16);
  const std::vector<double> expected = stored_row(exact, 0, 1, 150);
  const std::vector<double> row = stored_row(half, 0, 1, 150);
  for (std::size_t j = 0; j < row.size(); ++j) {
    EXPECT_NEAR(row[j], expected[j], expected[j] / 2048 + 0x1p-25);
  }
}

}  // namespace
}  // namespace kv::synthetic_test

#include "kvcheck/properties/subjects/spec_subject.h"

#include <cmath>
#include <numeric>
#include <string>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/policies/fixed_victims.h"

namespace kv::properties {
namespace {

std::unique_ptr<Family> family_of(const std::string& text) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return make_spec_family(*spec);
}

History run(Family& family, const std::string& text) {
  const auto what = parse_case(text);
  EXPECT_TRUE(what) << text << ": " << what.error().message;
  auto history = run_case(family, *what);
  EXPECT_TRUE(history) << history.error().message;
  EXPECT_EQ(history->failure, "");
  return *history;
}

std::string positions(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += std::to_string(row.value.position) + " ";
  return text;
}

std::string seen_by(const UnitFacts& unit, std::size_t query) {
  std::string text;
  for (std::size_t r = 0; r < unit.returned.size(); ++r) {
    if (unit.visible[query * unit.mask_width + r] == 0) continue;
    text += std::to_string(unit.returned[r].value.position) + " ";
  }
  return text;
}

TEST(SpecSubject, AttendsToEverythingStoredAndTheChunk) {
  const auto family = family_of("streaming:sinks=1,recent=2");
  const History history = run(*family, "sinks=1,recent=2,budget=3;stream=random;calls=f4,f3");
  const UnitFacts& unit = history.events[1].facts.units.at(0);
  EXPECT_EQ(positions(unit.returned), "0 2 3 4 5 6 ");
  EXPECT_EQ(unit.mask_width, 6U);
  EXPECT_EQ(seen_by(unit, 0), "0 2 3 4 ");
  EXPECT_EQ(seen_by(unit, 2), "0 2 3 4 5 6 ");
  EXPECT_EQ(positions(unit.stored), "0 5 6 ");
  EXPECT_EQ(unit.reported, 3U);
  EXPECT_EQ(unit.query_positions, (std::vector<double>{4, 5, 6}));
}

TEST(SpecSubject, WindowVisibilityHidesWhatIsStillStored) {
  const auto family = family_of("streaming:sinks=1,recent=2;visibility=window;timing=lazy:2");
  const History history = run(*family, "sinks=1,recent=2,budget=3;stream=random;calls=f5,f1");
  const UnitFacts& first = history.events[0].facts.units.at(0);
  EXPECT_EQ(seen_by(first, 4), "0 3 4 ");
  EXPECT_EQ(positions(first.stored), "0 1 2 3 4 ");  // five are within budget and slack
  const UnitFacts& second = history.events[1].facts.units.at(0);
  EXPECT_EQ(positions(second.returned), "0 1 2 3 4 5 ");
  EXPECT_EQ(seen_by(second, 0), "0 4 5 ");
  EXPECT_EQ(positions(second.stored), "0 4 5 ");
}

TEST(SpecSubject, InCachePositionsAreRanksOfTheVisible) {
  const auto family = family_of("streaming:sinks=1,recent=2;positions=in-cache;visibility=window");
  const History history = run(*family, "sinks=1,recent=2,budget=3;stream=random;calls=f4,f1");
  const UnitFacts& unit = history.events[1].facts.units.at(0);
  EXPECT_EQ(seen_by(unit, 0), "0 3 4 ");
  EXPECT_EQ(unit.query_positions, std::vector<double>{2});
  ASSERT_EQ(positions(unit.returned), "0 2 3 4 ");
  EXPECT_EQ(unit.key_positions[0], 0);
  EXPECT_TRUE(std::isnan(unit.key_positions[1]));
  EXPECT_EQ(unit.key_positions[2], 1);
  EXPECT_EQ(unit.key_positions[3], 2);
}

TEST(SpecSubject, TellsEveryUnitAndWeightsThatSumToOne) {
  const auto family = family_of("h2o:sinks=1,recent=2,budget=5;unit=layer");
  const History history = run(*family,
                              "sinks=1,recent=2,budget=5,layers=2,kv-heads=2,group=2,sequences=2;"
                              "stream=random;calls=f7,f2");
  ASSERT_EQ(history.events[1].facts.units.size(), 8U);
  for (std::size_t index = 0; index < 8; ++index) {
    const UnitFacts& unit = history.events[1].facts.units[index];
    EXPECT_EQ(unit.returned[0].value_place, history.place_of(index));
    ASSERT_EQ(unit.weights.size(), 2 * unit.returned.size());
    const auto half = static_cast<std::ptrdiff_t>(unit.returned.size());
    EXPECT_NEAR(std::accumulate(unit.weights.begin(), unit.weights.begin() + half, 0.0), 1, 1e-5);
  }
  EXPECT_EQ(positions(history.events[1].facts.units[0].stored),
            positions(history.events[1].facts.units[1].stored));
}

TEST(SpecSubject, ReportsWeightsAndBytesUnderEveryPolicy) {
  const auto family = family_of("window:recent=3;timing=lazy:2");
  const History history = run(*family, "sinks=0,recent=3,budget=3;stream=random;calls=f4,f2");
  for (const Event& event : history.events) {
    const UnitFacts& unit = event.facts.units.at(0);
    ASSERT_EQ(unit.weights.size(), event.fed.size() * unit.returned.size());
    const auto width = static_cast<std::ptrdiff_t>(unit.returned.size());
    EXPECT_NEAR(std::accumulate(unit.weights.end() - width, unit.weights.end(), 0.0), 1, 1e-5);
    ASSERT_TRUE(unit.bytes);
    EXPECT_EQ(*unit.bytes, unit.stored.size() * 512);
  }
  // If no law reads the weights, they are not computed.
  const auto subject = family->make(history.what.setup, counter_draws(1));
  const Token token{0, 0};
  const auto reported = subject->feed({{&token, 1}, history.what.stream, false});
  EXPECT_TRUE(std::get<Facts>(reported).units.at(0).weights.empty());
}

// Whatever is done to a copy, a restored or a rolled-back cache, it goes on as the plain one does.
TEST(SpecSubject, CopiesSnapshotsAndRollbacksGoOnAlike) {
  for (const PolicyEntry& policy : policy_registry()) {
    const auto family = family_of(std::string(policy.name));
    const std::string head =
        "sinks=1,recent=2,budget=5,kv-heads=2,seed=9;stream=random,seed=4;calls=";
    const History plain = run(*family, head + "f9,f2,f3,f1");
    const Facts& expected = plain.events.back().facts;
    for (const char* calls : {"f9,k,b1:f1v1,f2,f3,f1", "f9,s,f2,s,f3,f1", "f9,f2,f3v1,t11,f3,f1",
                              "f9v1,r,f9,f2,f3,f1", "f9,f2,f3v1,f1v1,t11,f3,f1"}) {
      const History history = run(*family, head + calls);
      for (const Event& event : history.events) EXPECT_FALSE(event.refused) << event.why;
      const Facts& facts = history.events.back().facts;
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(facts.units[i].stored, expected.units[i].stored) << policy.name << " " << calls;
        EXPECT_EQ(facts.units[i].visible, expected.units[i].visible) << policy.name << calls;
      }
    }
  }
}

TEST(SpecSubject, ReorderedSequencesSayWhereTheyCameFrom) {
  const auto family = family_of("h2o:sinks=0,recent=1,budget=3");
  const History history =
      run(*family, "sinks=0,recent=1,budget=3,sequences=2;stream=random,seed=3;calls=f6,o1.1,f1");
  const auto& before = history.events[0].facts.units;
  const auto& after = history.events[1].facts.units;
  EXPECT_NE(before[0].stored, before[1].stored);
  EXPECT_EQ(after[0].stored, before[1].stored);
  EXPECT_EQ(after[1].stored, before[1].stored);
  const auto& grown = history.events[2].facts.units;
  EXPECT_EQ(grown[0].returned.back().value_place.sequence, 0U);
  EXPECT_EQ(grown[0].returned.front().value_place.sequence, 1U);
}

TEST(SpecSubject, RefusesWhatIsHostileAndRemainsAsItWas) {
  const auto family = family_of("reservoir");
  const kv::properties::Setup setup{.sinks = 1, .recent = 1, .budget = 4};
  const auto subject = family->make(setup, counter_draws(1));
  const std::vector<Token> tokens = {{0, 0}, {1, 0}, {2, 0}};
  const Stream stream;
  ASSERT_TRUE(std::holds_alternative<Facts>(subject->feed({tokens, stream})));
  EXPECT_TRUE(std::holds_alternative<Refused>(subject->truncate(-1)));
  EXPECT_TRUE(std::holds_alternative<Refused>(subject->truncate(4)));
  EXPECT_TRUE(std::holds_alternative<Refused>(subject->truncate(2)));
  EXPECT_TRUE(std::holds_alternative<Refused>(subject->feed({tokens, stream})));
  EXPECT_TRUE(std::holds_alternative<Refused>(subject->reorder(std::vector<std::uint32_t>{1})));
  auto bytes = std::get<std::vector<std::uint8_t>>(subject->snapshot());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= 0x41U;
    EXPECT_TRUE(std::holds_alternative<Refused>(subject->restore(changed)));
    changed.resize(i);
    EXPECT_TRUE(std::holds_alternative<Refused>(subject->restore(changed)));
  }
  EXPECT_EQ(positions(subject->look().units[0].stored), "0 1 2 ");
}

TEST(SpecSubject, FailsWithTheSentenceOfAPolicyThatNamesNoLegalVictims) {
  const auto family = make_spec_family(fixed_victims<2, 1>());
  const auto what = parse_case("sinks=0,recent=1,budget=4;stream=random;calls=f8");
  const auto history = run_case(*family, what.value());
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_THAT(history->failure, testing::HasSubstr("policy 'fixed' names victims that are none"));
}

TEST(SpecSubject, SizesAreMappedOrRefused) {
  const auto window = family_of("window");
  const auto contract = window->contract({.sinks = 3, .recent = 1, .budget = 6});
  ASSERT_TRUE(contract);
  EXPECT_EQ(contract->sinks, 0U);
  EXPECT_EQ(contract->recent, 6U);
  EXPECT_EQ(family_of("dense")->contract({.sinks = 1, .recent = 1, .budget = 3})->budget, 0U);
  EXPECT_FALSE(family_of("streaming")->contract({.sinks = 4, .recent = 0, .budget = 3}));
  EXPECT_FALSE(family_of("reservoir")->contract({.sinks = 2, .recent = 2, .budget = 3}));
  EXPECT_FALSE(family_of("h2o;visibility=window")->contract({.recent = 0, .budget = 3}));
  EXPECT_FALSE(family_of("h2o")->contract({.budget = 0}));
  EXPECT_FALSE(family_of("h2o")->contract({.layers = 0, .recent = 1, .budget = 3}));
}

}  // namespace
}  // namespace kv::properties

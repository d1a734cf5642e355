// Subjects served to another process do what they do in this one.
#include <algorithm>
#include <cmath>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/properties/remote/serve.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

std::unique_ptr<Family> spec_family(std::string_view text) {
  return make_spec_family(*parse_spec(text));
}

Result<std::unique_ptr<Family>> served(const std::function<Result<std::unique_ptr<Family>>()>& make,
                                       const RemoteOptions& options = {}) {
  return make_remote_family(
      [make] { return Child::run_function([&](int in, int out) { serve_family(make, in, out); }); },
      options);
}

void expect_same(const History& one, const History& other) {
  EXPECT_EQ(one.contract, other.contract);
  EXPECT_EQ(one.failure, other.failure);
  ASSERT_EQ(one.events.size(), other.events.size());
  for (std::size_t i = 0; i < one.events.size(); ++i) {
    const Event& a = one.events[i];
    const Event& b = other.events[i];
    EXPECT_EQ(a.call, b.call);
    EXPECT_EQ(a.refused, b.refused);
    EXPECT_EQ(a.why, b.why);
    EXPECT_EQ(a.fed, b.fed);
    EXPECT_EQ(a.branch, b.branch);
    EXPECT_EQ(a.branches, b.branches);
    ASSERT_EQ(a.facts.units.size(), b.facts.units.size()) << i;
    for (std::size_t u = 0; u < a.facts.units.size(); ++u) {
      const UnitFacts& x = a.facts.units[u];
      const UnitFacts& y = b.facts.units[u];
      ASSERT_EQ(x.returned.size(), y.returned.size());
      ASSERT_EQ(x.stored.size(), y.stored.size());
      for (std::size_t r = 0; r < x.returned.size(); ++r) {
        EXPECT_EQ(x.returned[r].value, y.returned[r].value);
        EXPECT_EQ(x.returned[r].key_place, y.returned[r].key_place);
        EXPECT_TRUE(x.returned[r].position == y.returned[r].position ||
                    std::isnan(x.returned[r].position));
      }
      for (std::size_t r = 0; r < x.stored.size(); ++r) {
        EXPECT_EQ(x.stored[r].value, y.stored[r].value);
      }
      EXPECT_EQ(x.mask_width, y.mask_width);
      EXPECT_EQ(x.visible, y.visible);
      EXPECT_EQ(x.query_positions, y.query_positions);
      EXPECT_EQ(x.weights, y.weights);
      EXPECT_EQ(x.reported, y.reported);
    }
  }
  EXPECT_EQ(one.coverage.eviction, other.coverage.eviction);
  EXPECT_EQ(one.coverage.refusal, other.coverage.refusal);
}

class Served : public testing::TestWithParam<std::string> {};

TEST_P(Served, DoesWhatItDoesInThisProcess) {
  const std::string spec = GetParam();
  const auto here = spec_family(spec);
  const auto there =
      served([spec]() -> Result<std::unique_ptr<Family>> { return spec_family(spec); });
  ASSERT_TRUE(there) << there.error().message;
  for (const char* text :
       {"sinks=1,recent=2,budget=5;stream=random,seed=7;calls=f3,f4,f1,f1,f6,f1",
        "sinks=1,recent=2,budget=5,layers=2,kv-heads=2,group=2,sequences=2,seed=9;"
        "stream=hitter,planted=3;calls=f3,k,f1,b1:f4v1,b0:t2,b0:f2v2,o1.0,s,f2,r,f9,t-1,d2,f1"}) {
    const Case what = *parse_case(text);
    const auto one = run_case(*here, what);
    const auto other = run_case(**there, what);
    ASSERT_TRUE(one && other);
    expect_same(*one, *other);
  }
}

TEST_P(Served, DrawsWhatItIsGiven) {
  const std::string spec = GetParam();
  const auto here = spec_family(spec);
  const auto there =
      served([spec]() -> Result<std::unique_ptr<Family>> { return spec_family(spec); });
  ASSERT_TRUE(there) << there.error().message;
  const Case what =
      *parse_case("sinks=0,recent=1,budget=4,kv-heads=2,seed=1;stream=random;calls=f3,f4,f9");
  const DrawsOf others = counter_draws(77);
  expect_same(*run_case(*here, what, others), *run_case(**there, what, others));
}

TEST(ServedCodes, SayHowFarTheyAreOff) {
  const auto make = []() -> Result<std::unique_ptr<Family>> {
    return std::ranges::find(right_subjects(), "plain-int4-sinks", &RightSubject::name)->make();
  };
  const auto there = served(make);
  ASSERT_TRUE(there) << there.error().message;
  const Case what =
      *parse_case("sinks=1,recent=2,budget=5,seed=3;stream=random,seed=7;calls=f3,f4,f1,f1,f6,f1");
  const auto one = run_case(**make(), what);
  const auto other = run_case(**there, what);
  ASSERT_TRUE(one && other);
  expect_same(*one, *other);
  EXPECT_EQ(other->contract.full_precision_sinks, 1U);
  const auto& here = one->events.back().facts.units[0].stored;
  EXPECT_EQ(other->events.back().facts.units[0].stored, here);
  EXPECT_EQ(std::ranges::count(here, 0, &Row::steps_off), 2);
}

INSTANTIATE_TEST_SUITE_P(Specs,
                         Served,
                         testing::Values("streaming:sinks=1,recent=4",
                                         "reservoir:sinks=1,recent=2,budget=5",
                                         "h2o:sinks=1,recent=2,budget=6;positions=in-cache"));

}  // namespace
}  // namespace kv::properties

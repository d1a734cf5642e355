#include "kvcheck/reports/numbers/inclusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::taken;

// A spec built by hand: what is tested here is arithmetic over its fields.
Spec spec_of(const PolicyEntry& policy, std::uint32_t budget) {
  Spec spec;
  spec.policy = &policy;
  spec.sinks = 4;
  spec.recent = 6;
  spec.budget = budget;
  return spec;
}

constexpr std::string_view uniform_claim = "uniform";
constexpr std::string_view geometric_claim = "age-geometric";

PolicyEntry policy_that_claims(const std::string_view& claim) {
  PolicyEntry policy{};
  policy.claims = {&claim, 1};
  return policy;
}

TEST(InclusionTheory, IsCapacityOverEnteredForUniformPolicies) {
  const PolicyEntry policy = policy_that_claims(uniform_claim);
  const std::vector<double> theory = inclusion_theory(spec_of(policy, 13), 10);  // capacity 3
  ASSERT_EQ(theory.size(), 10U);
  for (const double p : theory) EXPECT_DOUBLE_EQ(p, 0.3);
}

TEST(InclusionTheory, FallsWithEveryDecisionForAgeGeometricPolicies) {
  const PolicyEntry policy = policy_that_claims(geometric_claim);
  const std::vector<double> theory = inclusion_theory(spec_of(policy, 12), 5);  // capacity 2
  ASSERT_EQ(theory.size(), 5U);
  // Three decisions, at the third, fourth and fifth token; each keeps 2 of 3.
  const double not_evicted = 2.0 / 3.0;
  EXPECT_DOUBLE_EQ(theory[0], not_evicted * not_evicted * not_evicted);
  EXPECT_DOUBLE_EQ(theory[1], not_evicted * not_evicted * not_evicted);
  EXPECT_DOUBLE_EQ(theory[2], not_evicted * not_evicted * not_evicted);
  EXPECT_DOUBLE_EQ(theory[3], not_evicted * not_evicted);
  EXPECT_DOUBLE_EQ(theory[4], not_evicted);
}

TEST(InclusionTheory, KeepsNewcomersInTheirOwnDecisionWhereThePolicyAdmitsThem) {
  constexpr std::array<std::string_view, 2> both = {geometric_claim, "admits-newcomers"};
  PolicyEntry policy{};
  policy.claims = both;
  const std::vector<double> theory = inclusion_theory(spec_of(policy, 12), 5);  // capacity 2
  // Three decisions; a token survives each one after its own with 1/2, and the sum is the capacity.
  EXPECT_EQ(theory, (std::vector<double>{0.125, 0.125, 0.25, 0.5, 1.0}));
}

// Whatever the law, exactly `capacity` tokens are kept.
TEST(InclusionTheory, AddsUpToTheCapacity) {
  for (const std::string_view* claim : {&uniform_claim, &geometric_claim}) {
    const PolicyEntry policy = policy_that_claims(*claim);
    for (const std::uint64_t entered : {0U, 2U, 3U, 4U, 50U}) {
      const std::vector<double> theory = inclusion_theory(spec_of(policy, 13), entered);
      const double sum = std::accumulate(theory.begin(), theory.end(), 0.0);
      EXPECT_NEAR(sum, std::min(3.0, static_cast<double>(entered)), 1e-12) << *claim << entered;
    }
  }
}

TEST(InclusionTheory, SaysNothingForPoliciesThatClaimNoLaw) {
  const PolicyEntry policy{};
  EXPECT_EQ(inclusion_law(spec_of(policy, 13)), InclusionLaw::none);
  EXPECT_TRUE(inclusion_theory(spec_of(policy, 13), 10).empty());
}

TEST(EnteredAtEnd, CountsTokensThatLeftTheRecentWindow) {
  const PolicyEntry policy{};
  Spec spec = spec_of(policy, 13);
  EXPECT_EQ(entered_at_end(spec, 100), 100U - 6 - 4);
  EXPECT_EQ(entered_at_end(spec, 8), 0U);
  spec.timing = Timing::trim_then_attend;
  spec.chunk = 8;  // the last chunk of 100 has 4 tokens, fewer than are recent
  EXPECT_EQ(entered_at_end(spec, 100), 100U - 6 - 4);
  EXPECT_EQ(entered_at_end(spec, 104), 104U - 8 - 4);  // room was made before 8 new tokens came
  spec.visibility = Visibility::window;
  EXPECT_EQ(entered_at_end(spec, 104), 104U - 6 - 4);
}

// One token at a time, budget 13, slack 5: stored grows to 19, then 13 are left. So trims come
// after tokens 19, 25, 31, and after the last of them 31 - 6 - 4 tokens had entered.
TEST(EnteredAtEnd, WaitsForTheLastTrimOfALazyCache) {
  const PolicyEntry policy{};
  Spec spec = spec_of(policy, 13);
  spec.timing = Timing::lazy;
  spec.slack = 5;
  EXPECT_EQ(entered_at_end(spec, 18), 0U);
  EXPECT_EQ(entered_at_end(spec, 19), 19U - 6 - 4);
  EXPECT_EQ(entered_at_end(spec, 24), 19U - 6 - 4);
  EXPECT_EQ(entered_at_end(spec, 36), 31U - 6 - 4);
}

TEST(EnteredAtEnd, IsNothingForPoliciesThatEvictNothing) {
  EXPECT_EQ(entered_at_end(taken(parse_spec("dense")), 100), 0U);
}

}  // namespace
}  // namespace kv::reports

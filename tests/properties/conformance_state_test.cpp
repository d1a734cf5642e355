#include "kvcheck/properties/conformance/conformance_state.h"

#include <algorithm>
#include <set>

#include "kvcheck/properties/conformance/conformance_rapidcheck.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"

namespace kv::properties {
namespace {

template <typename All>
std::unique_ptr<Family> named(const All& all, std::string_view name) {
  return std::ranges::find_if(all, [&](const auto& each) { return each.name == name; })->make();
}

// A property that a project might have beside the laws.
bool stores_only_what_was_fed(const History& so_far) {
  const Event& last = so_far.events.back();
  const std::set<Token> fed(last.branch.begin(), last.branch.end());
  return std::ranges::all_of(last.facts.units, [&](const UnitFacts& unit) {
    return std::ranges::all_of(unit.stored,
                               [&](const Row& row) { return fed.contains(row.value); });
  });
}

TEST(RapidCheckState, AllRunsOfARightCacheKeepTheLaws) {
  std::set<Call::Kind> kinds;
  for (const char* name : {"plain-rollback-h2o", "plain-prompt-window", "plain-shifting"}) {
    const auto family = named(right_subjects(), name);
    EXPECT_TRUE(rc::check([&] {
      const auto setup = *rc::gen::arbitrary<kv::properties::Setup>();
      check_calls(*family, setup, {.kind = StreamKind::random}, [&](const History& so_far) {
        RC_ASSERT(stores_only_what_was_fed(so_far));
        if (!so_far.events.back().refused) kinds.insert(so_far.events.back().call.kind);
        if (so_far.events.size() % 16 == 5) RC_ASSERT(broken_law(so_far) == "");
      });
    })) << name;
  }
  EXPECT_EQ(kinds.size(), 7U);  // every kind of call was carried out
}

TEST(RapidCheckState, AForkThatSharesItsRowsIsFoundInAShortRun) {
  const auto family = named(mutants(), "fork-is-an-alias");
  std::optional<Case> smallest;
  testing::internal::CaptureStderr();
  const bool holds = rc::check([&] {
    check_calls(*family, {.budget = 4}, {}, [&](const History& so_far) {
      const bool right = stores_only_what_was_fed(so_far);
      if (!right) smallest = so_far.what;
      RC_ASSERT(right);
    });
  });
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(holds);
  ASSERT_TRUE(smallest);
  EXPECT_LE(smallest->calls.size(), 4U) << smallest->text();
  EXPECT_LE(smallest->tokens(), 6U) << smallest->text();
  for (const Call& call : smallest->calls) EXPECT_THAT(said, testing::HasSubstr(call_text(call)));
}

TEST(RapidCheckState, ALawThatARunBreaksIsNamed) {
  const auto family = named(mutants(), "trims-one-late");
  std::string broken;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(rc::check([&] {
    check_calls(*family, {.budget = 2}, {}, [&](const History& so_far) {
      broken = broken_law(so_far);
      RC_ASSERT(broken == "");
    });
  }));
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(broken, testing::StartsWith("size.stored: expected at most 2"));
}

}  // namespace
}  // namespace kv::properties

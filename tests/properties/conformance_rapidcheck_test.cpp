#include "kvcheck/properties/conformance/conformance_rapidcheck.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"

namespace kv::properties {
namespace {

// A property that a project might have beside the laws: the newest token of each call is stored.
bool keeps_the_newest(Family& family, const Case& what) {
  const auto history = run_case(family, what);
  if (!history) return true;  // sizes that the cache refuses
  return std::ranges::all_of(history->events, [](const Event& event) {
    if (event.refused || event.fed.empty()) return true;
    return std::ranges::all_of(event.facts.units, [&](const UnitFacts& unit) {
      return std::ranges::find(unit.stored, event.fed.back(), &Row::value) != unit.stored.end();
    });
  });
}

template <typename All>
std::unique_ptr<Family> named(const All& all, std::string_view name) {
  return std::ranges::find_if(all, [&](const auto& each) { return each.name == name; })->make();
}

TEST(RapidCheckGenerators, CarryAPropertyOfOnesOwn) {
  const auto family = named(right_subjects(), "plain-h2o");
  EXPECT_TRUE(rc::check([&](const Case& what) { RC_ASSERT(keeps_the_newest(*family, what)); }));
}

TEST(RapidCheckGenerators, ShrinkToASmallCase) {
  const auto family = named(mutants(), "newest-is-the-victim");
  std::optional<Case> smallest;
  testing::internal::CaptureStderr();
  const bool holds = rc::check([&](const Case& what) {
    const bool kept = keeps_the_newest(*family, what);
    if (!kept) smallest = what;
    RC_ASSERT(kept);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(holds);
  ASSERT_TRUE(smallest);
  EXPECT_LE(smallest->tokens(), 12U) << smallest->text();
  EXPECT_EQ(smallest->stream.seed, 0U);
  EXPECT_THAT(said, testing::HasSubstr(smallest->text()));
  EXPECT_EQ(parse_case(smallest->text()).value(), *smallest);
}

TEST(RapidCheckGenerators, ReachEveryKindOfStreamAndMakeRoomForWhatIsProtected) {
  EXPECT_TRUE(rc::check([&](const Case& what) {
    RC_ASSERT(what.setup.budget >= what.setup.sinks + what.setup.recent);
    RC_ASSERT(parse_case(what.text()).value() == what);
  }));
  // The hundred cases of a check could miss a kind.
  const rc::Gen<Case> cases = rc::gen::arbitrary<Case>();
  std::set<StreamKind> kinds;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    kinds.insert(cases(rc::Random(seed), 100).value().stream.kind);
  }
  EXPECT_EQ(kinds.size(), stream_kinds().size());
}

}  // namespace
}  // namespace kv::properties

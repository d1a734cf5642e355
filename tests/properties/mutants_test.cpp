#include "kvcheck/properties/mutants/mutants.h"

#include <set>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/selftest/right_subjects.h"

namespace kv::properties {
namespace {

constexpr std::string_view tries[] = {
    "sinks=1,recent=2,budget=5;stream=random;calls=f3,f1,f1,f4,f1,f2,f1",
    "sinks=2,recent=3,budget=8,layers=2,kv-heads=2,group=2,sequences=2;stream=one-hot;"
    "calls=f4,f4,f3,k,b1:f2v1,t9,f1,o1.0,f1,s,f2,f4,r,f3,f4,t-1,t99,f1",
    "sinks=0,recent=1,budget=1;stream=ties;calls=f1,f0,f2,f3,k,b1:f1,r,f4,t3,s,f3",
    "sinks=2,recent=0,budget=3;stream=hitter,planted=3;calls=f7,f1,f1,t8,f1,f1,f1,f1,f1"};

// Runs what the subject takes of the cases; whatever is wrong with it, its process lives on.
void try_all(std::string_view name, Family& family) {
  std::size_t tried = 0;
  for (const std::string_view text : tries) {
    const auto what = parse_case(text);
    ASSERT_TRUE(what) << what.error().message;
    const auto history = run_case(family, *what);
    if (!history) continue;
    // A mutant may report too many units, which ends its history at once.
    const bool misshapen = history->failure.starts_with("it reported ");
    EXPECT_TRUE(history->failure.empty() || misshapen) << name << " " << text << "\n"
                                                       << history->failure;
    EXPECT_TRUE(!history->events.empty() || misshapen);
    ++tried;
  }
  EXPECT_GE(tried, 2U) << name;
  const auto requested = family.contract(family.requested());
  EXPECT_TRUE(requested) << name << ": " << requested.error().message;
}

TEST(Mutants, AreManyNamedAndSourced) {
  EXPECT_GE(mutants().size(), 70U);
  std::set<std::string_view> names;
  for (const Mutant& mutant : mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name << " twice";
    EXPECT_FALSE(mutant.wrong.empty()) << mutant.name;
    EXPECT_FALSE(mutant.source.empty()) << mutant.name;
    EXPECT_EQ(mutant.name.find(' '), std::string_view::npos) << mutant.name;
  }
}

TEST(Mutants, CanAllBeMadeAndRun) {
  for (const Mutant& mutant : mutants()) {
    const auto family = mutant.make();
    EXPECT_EQ(family->name(), mutant.name);
    if (mutant.name == "writes-past-its-array") continue;  // in processes of the battery only
    try_all(mutant.name, *family);
  }
}

TEST(RightSubjects, AreManyAndCanAllBeMadeAndRun) {
  EXPECT_GE(right_subjects().size(), 20U);
  std::set<std::string_view> names;
  for (const RightSubject& subject : right_subjects()) {
    EXPECT_TRUE(names.insert(subject.name).second) << subject.name << " twice";
    EXPECT_FALSE(subject.why.empty()) << subject.name;
    try_all(subject.name, *subject.make());
  }
}

// What every right subject does, whatever it declares: the least that laws rely on.
TEST(RightSubjects, StayWithinTheirOwnBounds) {
  for (const RightSubject& subject : right_subjects()) {
    const auto family = subject.make();
    for (const std::string_view text : tries) {
      const auto history = run_case(*family, *parse_case(text));
      if (!history) continue;
      for (const Event& event : history->events) {
        ASSERT_EQ(event.facts.units.size(), history->units()) << subject.name;
        for (const UnitFacts& unit : event.facts.units) {
          const std::string where = std::string(subject.name) + " " + std::string(text);
          EXPECT_EQ(unit.stored.size(), unit.reported) << where;
          if (event.fed.empty()) continue;
          // A prompt is stored whole, and what is stored after it may grow: laws judge that.
          if (history->contract.compress == Compress::always) {
            EXPECT_LE(unit.stored.size(),
                      history->contract.most_stored(event.branch.size(), event.fed.size()))
                << where;
          }
          EXPECT_EQ(unit.mask_width, unit.returned.size()) << where;
          EXPECT_EQ(unit.visible.size(), unit.mask_width * event.fed.size()) << where;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv::properties

#include "kvcheck/properties/selftest/selftest.h"

#include <boost/json.hpp>
#include <sstream>

namespace kv::properties {
namespace {

// Two mutants and a right subject: the whole is `kvcheck selftest`.
SelftestOptions small() {
  SelftestOptions options;
  options.filter = {std::string(mutants()[0].name), "no-lower-bound-in-chunks",
                    std::string(right_subjects()[0].name)};
  return options;
}

const SelftestResult& report() {
  static const SelftestResult made = run_selftest(small()).value();
  return made;
}

std::string text_of(void (*write)(const SelftestResult&, std::ostream&),
                    const SelftestResult& report) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

TEST(Selftest, KillsMutantsAndAccusesNoRightSubject) {
  ASSERT_EQ(report().kills.size(), 2U);
  for (const Kill& kill : report().kills) {
    EXPECT_FALSE(kill.killers.empty()) << kill.mutant->name;
    EXPECT_FALSE(kill.smallest.empty());
    EXPECT_GT(kill.cases, 0U);
  }
  EXPECT_EQ(report().right_batteries, 1U);
  EXPECT_TRUE(report().accusations.empty());
  EXPECT_TRUE(report().idle_laws.empty());
  EXPECT_TRUE(report().passed());
}

TEST(Selftest, DoesNotDependOnTheNumberOfWorkers) {
  SelftestOptions options = small();
  options.workers = 3;
  const auto other = run_selftest(options);
  ASSERT_TRUE(other);
  EXPECT_EQ(text_of(write_json, *other), text_of(write_json, report()));
}

const Mutant& mutant_named(std::string_view name) {
  return *std::ranges::find(mutants(), name, &Mutant::name);
}

const RightSubject& right_subject_named(std::string_view name) {
  return *std::ranges::find(right_subjects(), name, &RightSubject::name);
}

TEST(Selftest, FailsWhenAMutantLives) {
  const std::vector<Mutant> tried = {{"not-wrong-at-all", "nothing", "made", [](std::string_view) {
                                        return right_subject_named("plain-refuses").make();
                                      }}};
  SelftestOptions options;
  options.mutants = tried;
  options.filter = {"not-wrong-at-all"};
  const auto lives = run_selftest(options);
  ASSERT_TRUE(lives);
  EXPECT_FALSE(lives->passed());
  EXPECT_THAT(text_of(write_text, *lives), testing::HasSubstr("not-wrong-at-all  LIVES"));
  EXPECT_THAT(text_of(write_text, *lives), testing::HasSubstr("FAILED"));
  EXPECT_THAT(text_of(write_json, *lives), testing::HasSubstr("\"verdict\":\"LIVES\""));
}

TEST(Selftest, FailsWhenAnEquivalentMutantIsKilled) {
  std::vector<Mutant> tried = {mutant_named("no-lower-bound-in-chunks")};
  tried[0].equivalent = "so it is said";
  SelftestOptions options;
  options.mutants = tried;
  options.filter = {std::string(tried[0].name)};
  const auto killed = run_selftest(options);
  ASSERT_TRUE(killed);
  EXPECT_FALSE(killed->passed());
  EXPECT_THAT(text_of(write_text, *killed), testing::HasSubstr("KILLED"));
}

TEST(Selftest, FailsWhenALawIsIdle) {
  const std::vector<Mutant> tried = {mutant_named("no-lower-bound-in-chunks")};
  SelftestOptions options;
  options.mutants = tried;
  options.right_subjects = {};
  const auto idle = run_selftest(options);
  ASSERT_TRUE(idle);
  EXPECT_TRUE(idle->whole);
  EXPECT_FALSE(idle->passed());
  EXPECT_EQ(idle->idle_laws.size() + idle->kills[0].killers.size(), laws().size());
  EXPECT_THAT(text_of(write_text, *idle), testing::HasSubstr("IDLE  law survives"));
}

TEST(Selftest, FailsWhenARightSubjectIsAccused) {
  const std::vector<RightSubject> tried = {
      {"said-to-be-right", "nothing",
       [] { return mutant_named("no-lower-bound-in-chunks").make(); }}};
  SelftestOptions options;
  options.right_subjects = tried;
  options.filter = {"said-to-be-right"};
  options.seed = 7;
  const auto accused = run_selftest(options);
  ASSERT_TRUE(accused);
  EXPECT_FALSE(accused->passed());
  ASSERT_FALSE(accused->accusations.empty());
  EXPECT_EQ(accused->accusations[0].seed, 7U);
  const std::string text = text_of(write_text, *accused);
  EXPECT_THAT(text, testing::HasSubstr("ACCUSED  said-to-be-right of "));
  EXPECT_THAT(text, testing::HasSubstr("FAILED"));
}

TEST(Selftest, WritesTheMatrixForPeopleAndPrograms) {
  const auto object = boost::json::parse(text_of(write_json, report())).as_object();
  EXPECT_TRUE(object.at("passed").as_bool());
  EXPECT_FALSE(object.at("whole").as_bool());
  EXPECT_EQ(object.at("mutants").as_array().size(), 2U);
  EXPECT_EQ(object.at("laws").as_array().size(), laws().size());
  EXPECT_EQ(object.at("right_subjects").as_int64(), 1);
  EXPECT_THAT(text_of(write_text, report()), testing::HasSubstr("passed\n"));
}

TEST(Selftest, RunsARightSubjectWithFreshSeeds) {
  SelftestOptions options;
  options.filter = {"plain-refuses"};
  options.right_runs = 3;
  const auto runs = run_selftest(options);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->right_batteries, 3U);
  EXPECT_EQ(runs->right_subjects, 1U);
  EXPECT_TRUE(runs->passed());
}

// These hang by one law each, or nearly so.
TEST(Selftest, KillsTheMutantsThatOneLawHolds) {
  SelftestOptions options;
  options.filter = {"growing-target",
                    "first-layer-prunes-the-scores",
                    "modulo-of-a-byte",
                    "slot-valid-by-wrapped-position",
                    "ring-too-small-for-the-chunk",
                    "padding-wraps-over-the-window",
                    "rollback-leaves-scores",
                    "shares-in-name-only",
                    "second-shift-call-overwrites-the-first"};
  const auto thin = run_selftest(options);
  ASSERT_TRUE(thin);
  EXPECT_EQ(thin->kills.size(), options.filter.size());
  for (const Kill& kill : thin->kills) EXPECT_FALSE(kill.killers.empty()) << kill.mutant->name;
}

TEST(Selftest, NamesTheNearestMutant) {
  SelftestOptions options;
  options.filter = {"no-lower-bound-in-chunk"};
  const auto unknown = run_selftest(options);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("'no-lower-bound-in-chunks'"));
}

}  // namespace
}  // namespace kv::properties

#include "properties/selftest.h"

#include <boost/json.hpp>
#include <sstream>

namespace kv {
namespace {

// Two mutants and a right subject: the whole is `kvcheck selftest`.
SelftestOptions small() {
  SelftestOptions options;
  options.filter = {std::string(mutants()[0].name), "no-lower-bound-in-chunks",
                    std::string(right_subjects()[0].name)};
  return options;
}

const SelftestReport& report() {
  static const SelftestReport made = run_selftest(small()).value();
  return made;
}

std::string text_of(void (*write)(const SelftestReport&, std::ostream&),
                    const SelftestReport& report) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

TEST(Selftest, KillsMutantsAndAccusesNobody) {
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

TEST(Selftest, FailsWhenAMutantLivesOrALawIsIdleOrARightSubjectIsAccused) {
  SelftestReport lives = report();
  lives.kills[0].killers.clear();
  EXPECT_EQ(lives.passed(), !lives.kills[0].mutant->equivalent.empty());
  SelftestReport idle = report();
  idle.idle_laws.push_back(&laws()[0]);
  EXPECT_FALSE(idle.passed());
  EXPECT_THAT(text_of(write_text, idle), testing::HasSubstr("IDLE  law survives"));
  SelftestReport accused = report();
  accused.accusations.push_back({.subject = &right_subjects()[0],
                                 .law = &laws()[0],
                                 .seed = 7,
                                 .reproduce = "survives/sinks=0"});
  EXPECT_FALSE(accused.passed());
  EXPECT_THAT(text_of(write_text, accused), testing::HasSubstr("ACCUSED  "));
  EXPECT_THAT(text_of(write_text, accused), testing::HasSubstr("FAILED"));
}

TEST(Selftest, WritesTheMatrixInEveryForm) {
  const auto object = boost::json::parse(text_of(write_json, report())).as_object();
  EXPECT_TRUE(object.at("passed").as_bool());
  EXPECT_EQ(object.at("mutants").as_array().size(), 2U);
  const std::string csv = text_of(write_csv, report());
  EXPECT_THAT(csv, testing::StartsWith("mutant,law,cases\n"));
  EXPECT_THAT(csv, testing::HasSubstr("\"no-lower-bound-in-chunks\",\""));
  EXPECT_THAT(text_of(write_markdown, report()),
              testing::HasSubstr("| no-lower-bound-in-chunks | "));
  EXPECT_THAT(text_of(write_text, report()), testing::HasSubstr("passed\n"));
}

TEST(Selftest, NamesTheNearestMutant) {
  SelftestOptions options;
  options.filter = {"no-lower-bound-in-chunk"};
  const auto unknown = run_selftest(options);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("'no-lower-bound-in-chunks'"));
}

}  // namespace
}  // namespace kv

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

std::string error_of(std::string_view text) {
  const auto family = make_faulty(Fault::none);
  const auto report = reproduce(*family, text);
  return report ? "" : report.error().message;
}

TEST(Reproduce, TriesOneLawOnOneCase) {
  const auto family = make_faulty(Fault::none);
  const auto report =
      reproduce(*family, "survives/sinks=1,recent=2,budget=3;stream=ties;calls=f3,f1,f9");
  ASSERT_TRUE(report);
  ASSERT_EQ(report->laws.size(), 1U);
  EXPECT_EQ(report->laws[0].status, Status::held);
  EXPECT_EQ(report->laws[0].cases, 1U);
  EXPECT_TRUE(report->laws[0].coverage.wide_chunk);
  EXPECT_TRUE(report->holds());
}

TEST(Reproduce, RefusesInOneLine) {
  for (const char* text : {"survives/sinks=1\n2;a;b", "survives/a\nb;stream=ties;calls=f3",
                           "survives/sinks=1;stream=ties;calls=x\ny",
                           "survives/sinks=1,layers=0;stream=ties\n;calls=f1"}) {
    EXPECT_THAT(error_of(text), testing::Not(testing::HasSubstr("\n"))) << text;
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(Reproduce, RefusesWhatTriesNothing) {
  EXPECT_THAT(error_of(""), testing::HasSubstr("unknown law ''"));
  EXPECT_THAT(error_of("survives"), testing::HasSubstr("names no case"));
  EXPECT_THAT(error_of("survivs/sinks=1"), testing::HasSubstr("did you mean 'survives'?"));
  EXPECT_THAT(error_of("survives/sinks=1"), testing::HasSubstr("SETUP;stream=KIND;calls="));
  EXPECT_THAT(error_of("survives/snks=1,recent=2,budget=3;stream=ties;calls=f3"),
              testing::HasSubstr("sinks"));
  const std::string ghost =
      error_of("survives/sinks=1,recent=3,budget=4;stream=ties;calls=f3,b2:f1");
  EXPECT_THAT(ghost, testing::HasSubstr("call 2 of the case (branch 2: feed 1) is on branch 2; "
                                        "there is only branch 0 then"));
  EXPECT_THAT(error_of("survives/sinks=1,recent=3,budget=4;stream=ties;calls=k,b2:f1"),
              testing::HasSubstr("there are branches 0 to 1 then, and each call k makes one more"));
  // Sizes that the subject refuses: streaming has no middle.
  EXPECT_NE(error_of("survives/sinks=9,recent=2,budget=3;stream=ties;calls=f3"), "");
}

}  // namespace
}  // namespace kv::properties

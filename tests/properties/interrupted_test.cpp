// A battery that the user stops: it reports what it has found, if that is requested.
#include <algorithm>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/stop.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

bool asked = false;

bool is_asked() {
  return asked;
}

class StoppedBattery : public testing::Test {
 protected:
  StoppedBattery() : stop_(is_asked) { asked = false; }

  // Stops once a third of the cases has been tried.
  static BatteryOptions stopped(bool reports) {
    BatteryOptions options;
    options.cases = 200;
    options.report_interrupted = reports;
    options.progress = [](double share, std::string_view) { asked = asked || share > 0.16; };
    return options;
  }

 private:
  StopWhen stop_;
};

TEST_F(StoppedBattery, ReportsWhatWasFound) {
  const auto family = make_faulty(Fault::blind);
  const auto report = run_battery(*family, stopped(true));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->interrupted);
  EXPECT_FALSE(report->complete());
  EXPECT_GT(report->count(Status::broken), 0U);
  std::size_t cut = 0;
  for (const LawResult& result : report->laws) {
    if (result.status == Status::broken && result.cases > 0) {
      EXPECT_TRUE(result.finding && result.smallest) << result.law->id;
    }
    if (result.why.find("interrupted") != std::string::npos) ++cut;
  }
  EXPECT_GT(cut, 5U);
}

TEST_F(StoppedBattery, IsNoReportWhereNoneIsRequested) {
  const auto family = make_faulty(Fault::blind);
  EXPECT_THROW(static_cast<void>(run_battery(*family, stopped(false))), Interrupted);
}

TEST_F(StoppedBattery, SaysNothingOfASubjectThatWasNotTried) {
  const auto family = make_faulty(Fault::blind);
  asked = true;
  const auto report = run_battery(*family, stopped(true));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->interrupted);
  EXPECT_FALSE(report->holds());
}

}  // namespace
}  // namespace kv::properties

// Programs that die in different ways: the law that reports it names the call, and the battery
// continues.
#include <algorithm>
#include <csignal>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/battery/verdict_bytes.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

// A sink-free window in Python that does `deed` when `when` is so: at the seventh token, or in a
// truncate.
std::string dying(const std::string& at_seventh, const std::string& at_truncate = "pass") {
  return "exec env PYTHONPATH='" KVCHECK_SOURCE_DIR
         "/python' python3 -c 'import kvcheck, os, sys, time\n"
         "class Window:\n"
         "  def __init__(self, budget):\n"
         "    self.budget, self.ids = budget, []\n"
         "  def append(self, tokens):\n"
         "    return [self.take(token) for token in tokens]\n"
         "  def take(self, token):\n"
         "    if kvcheck.position_of(token) == 6:\n"
         "      " +
         at_seventh +
         "\n"
         "    self.ids = (self.ids + [token])[-self.budget:]\n"
         "    return list(self.ids)\n"
         "  def kept(self):\n"
         "    return self.ids\n"
         "  def truncate(self, length):\n"
         "    " +
         at_truncate +
         "\n"
         "    raise kvcheck.Refused(\"never\")\n"
         "kvcheck.serve(Window, contract={\"sinks\": 0})'";
}

BatteryResult report_of(const std::string& command,
                        const std::vector<std::string>& filter,
                        double seconds = 10) {
  const auto family = make_process_family(command, {.start_seconds = 60, .seconds = seconds});
  EXPECT_TRUE(family) << family.error().message;
  BatteryOptions options;
  options.cases = 12;
  options.filter = filter;
  auto report = run_battery(**family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

const LawResult& survival(const BatteryResult& report) {
  const auto found = std::ranges::find(report.laws, "survives",
                                       [](const LawResult& result) { return result.law->id; });
  EXPECT_NE(found, report.laws.end());
  return *found;
}

struct Death {
  const char* name;
  std::string deed;
  std::string seen;
};

void PrintTo(const Death& death, std::ostream* out) {
  *out << death.name;
}

class Deaths : public testing::TestWithParam<Death> {};

TEST_P(Deaths, AreShrunkAndTheirCallIsNamed) {
  const BatteryResult report =
      report_of(dying(GetParam().deed), {"survives", "visible.self", "operation.reset"},
                GetParam().name == std::string("hang") ? 0.8 : 10);
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(result.finding->seen, HasSubstr(GetParam().seen));
  EXPECT_EQ(result.smallest->text(), "sinks=0,recent=0,budget=1;stream=ties;calls=f7");
  EXPECT_EQ(where_of(result), "in call 1, feed 7");
  EXPECT_EQ(result.reproduce, "survives/" + result.smallest->text());
  for (const LawResult& other : report.laws) {
    if (&other == &result) continue;
    // Cases of fewer tokens are judged; no other law is broken.
    EXPECT_NE(other.status, Status::broken) << other.law->id;
    EXPECT_TRUE(other.cases > 0 || other.why.find("die") != std::string::npos) << other.why;
  }
}

INSTANTIATE_TEST_SUITE_P(
    AtTheSeventhToken,
    Deaths,
    testing::Values(Death{"abort", "os.abort()", "was killed by signal 6"},
                    Death{"hang", "time.sleep(60)", "gave no answer within"},
                    Death{"exit", "os._exit(0)", "exited with status 0 before it had answered"},
                    Death{"garbage", "os.write(1, b\"here I am\\n\")", "here I am"},
                    Death{"closed", "os.close(1); time.sleep(60)", "closed its output and ran on"}),
    [](const auto& death) { return death.param.name; });

TEST(Death, AtATruncateLeavesTheOtherLawsToBeTried) {
  const BatteryResult report =
      report_of(dying("pass", "os.abort()"), {"survives", "visible.*", "rows.*", "operation.*"});
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(where_of(result), HasSubstr("truncate"));
  EXPECT_LE(result.smallest->calls.size(), 2U) << result.smallest->text();
  EXPECT_GT(report.count(Status::held), 5U);
  EXPECT_EQ(report.count(Status::broken), 1U);
}

TEST(Death, OfEveryCaseIsGivenUp) {
  const BatteryResult report = report_of(dying("pass"), {"survives"});
  EXPECT_EQ(survival(report).status, Status::held);
  const auto family = make_process_family(
      "while read -r line; do case \"$line\" in *hello*) echo '{\"protocol\":1,\"name\":\"x\"}';;"
      " *'\"ask\":\"contract\"'*) echo '{\"contract\":{}}';; *) exit 3;; esac; done");
  ASSERT_TRUE(family) << family.error().message;
  BatteryOptions options;
  options.filter = {"survives", "visible.self"};
  const auto all = run_battery(**family, options);
  ASSERT_TRUE(all);
  EXPECT_LE(all->cases, 200U);
  EXPECT_EQ(survival(*all).status, Status::broken);
  EXPECT_THAT(survival(*all).finding->seen, HasSubstr("exited with status 3"));
  EXPECT_EQ(where_of(survival(*all)), "when it is made");
  EXPECT_THAT(all->laws[1].why,
              HasSubstr("given up as the subject died again and again; 0 cases were tried"));
}

// In this process, where a child is forked for the subject.
TEST(Death, OfTheForkedChildIsNotTheEndOfTheBattery) {
  for (const auto fault : {Fault::dies, Fault::hangs}) {
    const auto family = make_faulty(fault);
    BatteryOptions options;
    options.cases = 30;
    options.case_seconds = 0.2;
    options.filter = {"survives", "visible.*", "operation.reset"};
    const auto report = run_battery(*family, options);
    ASSERT_TRUE(report);
    const LawResult& result = survival(*report);
    ASSERT_EQ(result.status, Status::broken);
    EXPECT_EQ(where_of(result), fault == Fault::dies ? "in call 1, feed 4" : "in call 1, feed 7");
    EXPECT_EQ(report->count(Status::broken), 1U);
    for (const LawResult& other : report->laws) {
      if (&other == &result) continue;
      EXPECT_TRUE(other.cases > 0 || !other.why.empty()) << other.law->id;
    }
    EXPECT_TRUE(std::ranges::any_of(report->laws, [&](const LawResult& other) {
      return &other != &result && other.cases > (fault == Fault::dies ? 5U : 0U);
    }));
  }
}

// Dies only in streams longer than any case.
class DiesLate final : public Family {
 public:
  DiesLate() : inner_(make_spec_family(*parse_spec("reservoir:sinks=1,recent=2,budget=8"))) {}

  [[nodiscard]] std::string name() const override { return "late"; }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    return inner_->contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    if (++made_ > 100) std::raise(SIGSEGV);
    return inner_->make(setup, draws);
  }

  [[nodiscard]] kv::properties::Setup requested() const override { return inner_->requested(); }

 private:
  std::unique_ptr<Family> inner_;
  int made_ = 0;
};

TEST(Death, WhileChanceIsMeasuredIsAFinding) {
  DiesLate family;
  BatteryOptions options;
  options.filter = {"chance.inclusion", "chance.acceptance"};
  const auto report = run_battery(family, options);
  ASSERT_TRUE(report);
  for (const LawResult& result : report->laws) {
    ASSERT_EQ(result.status, Status::broken) << result.law->id;
    EXPECT_THAT(result.measured->sentence, HasSubstr("died of signal 11"));
    const auto again = reproduce(family, result.reproduce);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->laws[0].status, Status::broken);
  }
}

TEST(Death, VerdictsComeOutOfAChildWhole) {
  StatisticalVerdict verdict{.ran = true,
                             .why_not = "",
                             .cannot = false,
                             .broken = true,
                             .sentence = "a sentence",
                             .statistics = {},
                             .smallest = "n=5"};
  verdict.statistics.resize(2);
  verdict.statistics[1] = {.name = "T1",
                           .what = "what",
                           .where = "where",
                           .value = 1.5,
                           .freedom = 3,
                           .p = 1e-30,
                           .level = 1e-9,
                           .effect = "effect",
                           .effect_low = -1,
                           .effect_high = 2,
                           .detectable = 0.1,
                           .rejected = true};
  const StatisticalVerdict back = verdict_of(bytes_of(verdict));
  EXPECT_TRUE(back.ran && back.broken && !back.cannot);
  EXPECT_EQ(back.sentence + back.smallest, "a sentencen=5");
  ASSERT_EQ(back.statistics.size(), 2U);
  const Statistic& last = back.statistics[1];
  EXPECT_EQ(last.name + last.what + last.where + last.effect, "T1whatwhereeffect");
  EXPECT_EQ(last.p, 1e-30);
  EXPECT_EQ(last.value + last.freedom + last.effect_low + last.effect_high, 5.5);
  EXPECT_EQ(last.level, 1e-9);
  EXPECT_EQ(last.detectable, 0.1);
  EXPECT_TRUE(last.rejected);
}

TEST(Death, IsWeighedByWhatItCosts) {
  Board board;
  board.note_death(Board::pool, "a case", "it died of signal 6");
  EXPECT_EQ(board.deaths, 1U);
  EXPECT_STREQ(board.killer, "a case");
  EXPECT_FALSE(board.given_up(Board::pool));
  for (int i = 0; i < 10; ++i) board.note_death(Board::pool, "other", "it gave no answer in time");
  EXPECT_TRUE(board.given_up(Board::pool));
  EXPECT_FALSE(board.given_up(3));
  for (int i = 0; i < 3; ++i) board.note_death(3, "", "it died of signal 6");
  EXPECT_TRUE(board.given_up(3));
  EXPECT_FALSE(board.given_up(4));
  EXPECT_STREQ(board.killer, "a case");
}

}  // namespace
}  // namespace kv::properties

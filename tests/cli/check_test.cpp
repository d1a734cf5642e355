#include "kvcheck/cli/check/check.h"

#include <boost/json.hpp>
#include <fstream>

#include "kvcheck/properties/law.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::cli {
namespace {

using test::run;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const char* const subject = "streaming:sinks=2,recent=6,budget=8";

TEST(CheckCommand, HoldsOfOurOwnPolicy) {
  const auto ran = run({"check", subject, "--filter", "survives", "--all"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("survives  held"));
  EXPECT_THAT(run({"check", subject, "--filter", "survives"}).out, Not(HasSubstr("survives")));
  EXPECT_THAT(ran.out, HasSubstr("1 law holds, 0 broken"));
  EXPECT_EQ(ran.err, "");
}

TEST(CheckCommand, ListsAndExplainsLaws) {
  const auto list = run({"check", "--list"});
  EXPECT_EQ(list.status, 0);
  for (const properties::Law& law : properties::laws())
    EXPECT_THAT(list.out, HasSubstr(std::string(law.id)));
  for (const properties::Law& law : properties::laws()) {
    const auto explained = run({"check", "--explain", std::string(law.id)});
    EXPECT_EQ(explained.status, 0);
    EXPECT_THAT(explained.out, HasSubstr("why"));
  }
  const auto unknown = run({"check", "--explain", "survivs"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'survives'?"));
}

TEST(CheckCommand, ReproducesOneCase) {
  const std::string text = "survives/sinks=1,recent=2,budget=3;stream=ties;calls=f3,f1";
  const auto ran = run({"check", subject, "--reproduce", text});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 law holds"));
  const auto nothing = run({"check", subject, "--reproduce", "survives"});
  EXPECT_EQ(nothing.status, 2);
  const auto useless = run({"check", subject, "--reproduce", text, "--seed", "3"});
  EXPECT_EQ(useless.status, 2);
  EXPECT_THAT(useless.err, HasSubstr("--seed has no effect with --reproduce"));
}

TEST(CheckCommand, WritesJsonAndJunit) {
  const test::TemporaryFolder folder;
  const auto ran = run({"check", subject, "--filter", "survives", "--json", folder / "r.json",
                        "--junit", folder / "r.xml"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto object = boost::json::parse(test::read_text(folder / "r.json")).as_object();
  EXPECT_TRUE(object.at("holds").as_bool());
  EXPECT_EQ(object.at("laws").as_array().size(), 1U);
  EXPECT_THAT(test::read_text(folder / "r.xml"), HasSubstr("<testcase "));
  EXPECT_EQ(folder.names().size(), 2U);
  const auto out = run({"check", subject, "--filter", "survives", "--json", "-"});
  EXPECT_NO_THROW(boost::json::parse(out.out));
}

// Runs that laws share are the time of none of them.
TEST(CheckCommand, TimesLawsWithCasesOfTheirOwn) {
  const auto ran =
      run({"check", "reservoir:sinks=2,recent=2,budget=8", "--filter", "survives", "--filter",
           "isolation.layers", "--filter", "chance.inclusion", "--no-strict", "--junit", "-"});
  EXPECT_THAT(ran.out, HasSubstr(" name=\"survives\"/>"));
  EXPECT_THAT(ran.out,
              testing::ContainsRegex("name=\"isolation.layers\" time=\"[0-9]+\\.[0-9]{3}\"/>"));
  EXPECT_THAT(ran.out,
              testing::ContainsRegex("name=\"chance.inclusion\" time=\"[0-9]+\\.[0-9]{3}\"/>"));
}

// What shows JUnit files shows why, and not that there is none.
TEST(CheckCommand, ACacheThatDoesNotBeginIsAnErrorInJunit) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "laws.xml";
  const auto ran = run({"check", "--exec", "./<absent>", "--junit", file, "-q"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(test::read_text(file),
              testing::AllOf(HasSubstr("<testsuites tests=\"1\" failures=\"0\" errors=\"1\""),
                             HasSubstr("kvcheck ./&lt;absent&gt;"), HasSubstr("<error type=")));
  // A wrong word is mended where it was typed.
  const std::string none = folder / "none.xml";
  EXPECT_EQ(run({"check", "streming", "--junit", none}).status, 2);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"laws.xml"});
}

TEST(CheckCommand, RefusesWordsThatMakeNoSense) {
  const auto status = [](const std::vector<std::string>& arguments) {
    return run(arguments).status;
  };
  EXPECT_EQ(status({"check"}), 2);
  EXPECT_EQ(status({"check", "streming"}), 2);
  EXPECT_EQ(status({"check", subject, "--full", "--nightly"}), 2);
  EXPECT_EQ(status({"check", subject, "--time", "30"}), 2);
  EXPECT_EQ(status({"check", subject, "--time", "s"}), 2);
  EXPECT_EQ(status({"check", subject, "--filter", "nothing"}), 2);
  EXPECT_EQ(status({"check", subject, "--list"}), 2);
  EXPECT_EQ(status({"check", subject, "--json", "-", "--junit", "-"}), 2);
  EXPECT_EQ(status({"check", subject, "--json", "/nowhere/r.json"}), 2);
}

TEST(CheckCommand, BudgetIsResidentsAndTimeHasAnOptionOfItsOwn) {
  for (const std::string word : {"--budget", "--budget=64"}) {
    const auto ran = run({"check", subject, word, "30s"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, testing::HasSubstr("--budget is residents and belongs in the spec, as in "
                                            "'h2o:budget=64'; for a time limit use --time 30s"));
  }
}

TEST(CheckCommand, AnUnknownLawGetsTheNearestAndNotAll) {
  const auto ran = run({"check", subject, "--filter", "nosuch"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("unknown law 'nosuch'; nearest are '"));
  EXPECT_LT(ran.err.size(), 240U) << ran.err;
  EXPECT_THAT(run({"check", subject, "--filter", "sinks"}).err, HasSubstr("'visible.sinks'"));
}

// It holds the law that is tried, and fails in long runs.
TEST(CheckCommand, ARecordedRunInWhichTheCacheFailedIsNoSuccess) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "short.py") << R"(import kvcheck
from sink_window import SinkWindow


class Short(SinkWindow):
    def append(self, tokens):
        if any(kvcheck.position_of(token) >= 200 for token in tokens):
            raise RuntimeError("no room")
        return super().append(tokens)


kvcheck.serve(Short)
)";
  const auto checked = test::run_shell(
      "PYTHONPATH='" KVCHECK_SOURCE_DIR "/python:" KVCHECK_SOURCE_DIR
      "/examples/python' $K check --exec 'python3 " +
      folder / "short.py" + "' --filter resident.recent --record '" + folder / "runs.jsonl" + "'");
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out, HasSubstr("1 law holds, 0 broken"));
  EXPECT_THAT(checked.err, MatchesRegex("kvcheck check: the cache failed in [0-9]+ of the recorded "
                                        "runs; kvcheck judge says how\n"));
  const auto judged = run({"judge", folder / "runs.jsonl", "--filter", "survives"});
  EXPECT_EQ(judged.status, 1);
  EXPECT_THAT(judged.out, HasSubstr("0 laws hold, 1 broken"));
}

TEST(CheckCommand, RunningNothingIsNoSuccess) {
  // Dense evicts nothing, so that a law that must see an eviction is not applicable.
  const auto ran = run({"check", "dense", "--filter", "resident.sinks"});
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
}

// Nothing is evicted in one case, so that laws which must see an eviction are not run.
TEST(CheckCommand, WhatWasNotRunFailsWhereItMust) {
  const std::string check = "env -u CI $K check " + std::string(subject) + " --time 0.001s --quiet";
  const auto loose = test::run_shell(check + " --filter 'resident.*'");
  EXPECT_NE(loose.status, 3);
  EXPECT_THAT(loose.out, HasSubstr("NOT RUN"));
  EXPECT_EQ(test::run_shell(check + " --strict").status, 3);
  EXPECT_EQ(test::run_shell("CI=true " + check.substr(10) + " ").status, 3);
  EXPECT_NE(test::run_shell("CI=true " + check.substr(10) + " --no-strict").status, 3);
  EXPECT_EQ(run({"check", subject, "--strict", "--no-strict"}).status, 2);
  EXPECT_EQ(run({"check", subject, "--filter", "survives", "--strict"}).status, 0);
}

TEST(CheckCommand, ReportsWhatItFoundBeforeItWasInterrupted) {
  const test::TemporaryFolder folder;
  const std::string json = folder / "r.json";
  // On a busy machine no case may be done after a second. In the foreground one signal is sent;
  // otherwise two, of which the second ends the program.
  test::Ran ran;
  for (int seconds = 1; seconds <= 16; seconds *= 2) {
    ran = test::run_shell("timeout --foreground --preserve-status --signal=INT " +
                          std::to_string(seconds) +
                          " \"$K\" check h2o:budget=64 --nightly --json " + json);
    if (ran.err.find("nothing was written") == std::string::npos) break;
  }
  EXPECT_EQ(ran.status, 130);
  EXPECT_THAT(ran.out, HasSubstr("INTERRUPTED  this is what the cases show that had been tried"));
  EXPECT_THAT(ran.err, HasSubstr("interrupted; the result is of what had been tried by then"));
  const auto object = boost::json::parse(test::read_text(json)).as_object();
  EXPECT_FALSE(object.at("complete").as_bool());
  EXPECT_GT(object.at("cases").as_int64(), 0);
}

TEST(CheckCommand, ShowsProgressOnATerminalOnly) {
  EXPECT_EQ(run({"check", subject, "--filter", "survives"}).err, "");
  EXPECT_EQ(run({"check", subject, "--filter", "survives", "--quiet"}, true).err, "");
}

}  // namespace
}  // namespace kv::cli

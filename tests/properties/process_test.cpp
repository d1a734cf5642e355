// Programs behind the line protocol: what they say is held to it, and their deaths are findings.
#include "kvcheck/properties/remote/process_family.h"

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/remote/validate.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/properties/served_cache.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string example(const std::string& words) {
  return python("'" KVCHECK_SOURCE_DIR "/examples/python/sink_window.py' " + words);
}

History run(const std::string& command, std::string_view text, const RemoteOptions& options = {}) {
  const auto family = make_process_family(command, options);
  EXPECT_TRUE(family) << family.error().message;
  return *run_case(**family, *parse_case(text));
}

constexpr std::string_view plain = "sinks=1,recent=2,budget=5;stream=random;calls=f3,f9,f1";

TEST(Process, TellsWhatItSeesAndStores) {
  const History history = run(example(""), plain);
  EXPECT_EQ(history.failure, "");
  ASSERT_EQ(history.events.size(), 3U);
  const UnitFacts& last = history.events[2].facts.units[0];
  EXPECT_EQ(last.stored.size(), 5U);
  EXPECT_EQ(last.reported, 5U);
  EXPECT_EQ(last.visible, std::vector<std::uint8_t>(5, 1));
  EXPECT_TRUE(history.coverage.eviction);
}

// The module makes reorder out of fork; ids alone do not say for which sequence a row was made.
TEST(Process, PlainIdsAreNotAskedWhereTheyBelong) {
  const std::string forks =
      "  def fork(self):\n"
      "    import copy\n"
      "    return copy.deepcopy(self)\n";
  const History history =
      run(cache_of(forks), "sinks=0,recent=1,budget=9,sequences=2;stream=ties;calls=f3,o0.0,f1");
  EXPECT_EQ(history.failure, "");
  ASSERT_EQ(history.events.size(), 3U);
  EXPECT_FALSE(history.events[1].refused);
  const Laws laws = row_laws;
  for (const Law& law : laws) {
    if (law.id != "row.place" && law.id != "row.pairing") continue;
    const Judgement judged = std::get<JudgeHistory>(law.check)(history, history.contract);
    EXPECT_FALSE(std::holds_alternative<Finding>(judged)) << law.id;
    if (law.id != "row.place") continue;
    ASSERT_TRUE(std::holds_alternative<NotTested>(judged));
    EXPECT_TRUE(std::get<NotTested>(judged).of_right);
  }
}

TEST(Process, AClaimHasToBeAKnownWord) {
  const auto family = make_process_family(cache_of("", ", contract={\"claims\":[\"uniformm\"]}"));
  ASSERT_FALSE(family);
  EXPECT_THAT(family.error().message,
              HasSubstr("unknown claim 'uniformm'; did you mean 'uniform'?"));
}

// A misspelt declaration would be none, and the cache be held to what it never meant.
TEST(Process, ADeclarationHasKnownFieldsOnly) {
  const auto refused = [](const std::string& words, const std::string& why) {
    const test::Ran ran = test::run({"check", "--exec", cache_of("", words)});
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused(", contract={\"timming\":\"lazy\",\"slack\":4}",
          "answer.contract: unknown field 'timming'; did you mean 'timing'?");
  // The older name of the same argument, and one that there never was.
  for (const std::string name : {"requested", "wanted"}) {
    refused(", " + name + "={\"sinks\":1,\"recent\":2,\"budged\":8}",
            "answer.wanted: unknown field 'budged'; did you mean 'budget'?");
  }
  refused(", sizes={}", "unexpected keyword argument 'sizes'");
}

// Where only some sizes are declared so, the runs of those fail of it.
TEST(Process, ADeclarationOfSomeSizesOnlyIsHeldToTheSame) {
  const std::string some =
      ", contract=lambda setup: {\"slak\":1} if setup[\"budget\"] == 5 else {}";
  const History history = run(cache_of("", some), plain);
  EXPECT_THAT(history.failure, HasSubstr("unknown field 'slak'; did you mean 'slack'?"));
}

TEST(CheckCommand, PrintsWhatAProgramClaims) {
  const std::string claims = ", contract={\"claims\":[\"constant-size\",\"chunk-invariant\"]}";
  const auto ran = test::run({"check", "--exec", cache_of("", claims), "--filter", "survives"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("    claims    chunk-invariant, constant-size\n"));
  EXPECT_THAT(ran.out, HasSubstr("    sizes     sinks 2, recent 4, budget 12\n"));
}

TEST(Process, SaysWhyItCannotStart) {
  const auto family = make_process_family("echo nothing here >&2; exit 3");
  ASSERT_FALSE(family);
  EXPECT_THAT(family.error().message, HasSubstr("exited with status 3"));
  EXPECT_THAT(family.error().message, HasSubstr("nothing here"));
}

TEST(Process, ACrashIsAFindingWithItsLastWords) {
  const std::string crash =
      "  def take(self, token):\n"
      "    if token == 4: print(\"oh no\", file=sys.stderr, flush=True); os.abort()\n"
      "    self.ids.append(token)\n"
      "    return list(self.ids)\n";
  const auto family = make_process_family(cache_of(crash));
  ASSERT_TRUE(family) << family.error().message;
  const auto history = run_case(**family, *parse_case(plain));
  ASSERT_TRUE(history);
  EXPECT_THAT(history->failure, HasSubstr("was killed by signal 6"));
  EXPECT_THAT(history->failure, HasSubstr("oh no"));
  EXPECT_TRUE(history->died);
  EXPECT_TRUE(history->events.empty());  // the case was one request
  // The battery continues.
  const auto next =
      run_case(**family, *parse_case("sinks=1,recent=2,budget=5;stream=random;calls=f3"));
  EXPECT_EQ(next->failure, "");
}

TEST(Process, WhatItRaisesIsAFailure) {
  const History history = run(cache_of("  def take(self, token): return self.nothing\n"), plain);
  EXPECT_THAT(history.failure, HasSubstr("AttributeError"));
}

TEST(Process, AHangIsAFinding) {
  const History history = run(cache_of("  def take(self, token): time.sleep(60)\n"), plain,
                              {.start_seconds = 30, .seconds = 0.5});
  EXPECT_THAT(history.failure, HasSubstr("gave no answer within 0.5 s"));
}

TEST(Process, ASlowProgramHasTimeForALargeCase) {
  const std::string slow =
      "  def take(self, token):\n"
      "    time.sleep(0.03); self.ids.append(token); return list(self.ids)\n";
  const auto small = parse_case("sinks=0,recent=2,budget=90;stream=random;calls=f9");
  const auto large = parse_case("sinks=0,recent=2,budget=90;stream=random;calls=f50");
  const RemoteOptions options{.start_seconds = 30, .seconds = 1};
  const auto seen = make_process_family(cache_of(slow), options);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(run_case(**seen, *small)->failure, "");
  EXPECT_EQ(run_case(**seen, *large)->failure, "");
  const auto unseen = make_process_family(cache_of(slow), options);
  EXPECT_THAT(run_case(**unseen, *large)->failure, HasSubstr("gave no answer within 1 s"));
}

TEST(Process, RefusedCallsChangeWhatFollows) {
  const History history = run(cache_of("  def truncate(self, length):\n"
                                       "    if length != 2: raise kvcheck.Refused(\"only 2\")\n"
                                       "    del self.ids[2:]\n"),
                              "sinks=0,recent=2,budget=9;stream=random;calls=f4,t3,f1,t2,f1v1,k");
  EXPECT_EQ(history.failure, "");
  ASSERT_EQ(history.events.size(), 6U);
  EXPECT_EQ(history.events[1].why, "only 2");
  EXPECT_EQ(history.events[2].fed[0], (Token{4, 0}));
  EXPECT_EQ(history.events[4].fed[0], (Token{2, 1}));
  EXPECT_EQ(history.events[4].facts.units[0].stored[2].value, (Token{2, 1}));
  EXPECT_TRUE(history.events[5].refused);
}

TEST(Process, SizesAreRefusedByAnError) {
  const auto family =
      make_process_family(cache_of("  def __init__(self, budget):\n"
                                   "    if budget < 6: raise ValueError(\"at least 6\")\n"
                                   "    self.ids = []\n"));
  ASSERT_TRUE(family);
  const auto contract = (*family)->contract({.budget = 5});
  ASSERT_FALSE(contract);
  EXPECT_THAT(contract.error().message, HasSubstr("at least 6"));
  EXPECT_TRUE((*family)->contract({.budget = 6}));
}

TEST(Process, DrawsAreThoseOfOurOwnPolicies) {
  const auto family = make_process_family(
      cache_of("  def __init__(self, draws): self.draws, self.ids = draws, []\n"
               "  def take(self, token):\n"
               "    self.ids.append(token)\n"
               "    return [self.ids[self.draws.below(len(self.ids), token)]]\n"));
  ASSERT_TRUE(family);
  EXPECT_TRUE((*family)->uses_draws());
  const Case what = *parse_case("sinks=0,recent=1,budget=4,seed=9;stream=random;calls=f9");
  const Rng rng(9, 0);
  const auto expect = [&](const Result<History>& history) {
    ASSERT_EQ(history->failure, "");
    const UnitFacts& unit = history->events[0].facts.units[0];
    for (std::uint32_t query = 0; query < 9; ++query) {
      std::int32_t seen = -1;
      for (std::size_t row = 0; row < unit.returned.size(); ++row) {
        if (unit.visible[query * unit.mask_width + row] != 0) {
          seen = unit.returned[row].value.position;
        }
      }
      EXPECT_EQ(seen, static_cast<std::int32_t>(rng.below(query + 1, query)));
    }
  };
  expect(run_case(**family, what));
  expect(run_case(**family, what, counter_draws(9)));  // asked for one by one
}

TEST(Process, ItsSubjectsCanBeCalledCallByCall) {
  const auto family = make_process_family(example(""));
  ASSERT_TRUE(family);
  const kv::properties::Setup setup{.sinks = 1, .recent = 2, .budget = 3};
  const auto one = (*family)->make(setup, counter_draws(0));
  const auto other = (*family)->make(setup, counter_draws(0));
  const Stream stream;
  const std::vector<Token> tokens = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  const auto reported = one->feed({.tokens = tokens, .stream = stream});
  EXPECT_EQ(std::get<Facts>(reported).units[0].stored.size(), 3U);
  EXPECT_EQ(one->look().units[0].stored[1].value, (Token{2, 0}));
  EXPECT_EQ(other->look().units[0].stored.size(), 0U);
  EXPECT_TRUE(std::holds_alternative<Refused>(one->truncate(1)));
  EXPECT_TRUE(std::holds_alternative<Done>(one->reset()));
}

TEST(Validate, FindsTheExamplesRight) {
  const auto validation = validate_process(example(""));
  ASSERT_TRUE(validation);
  for (const auto& step : validation->steps) EXPECT_EQ(step.wrong, "") << step.asked;
  EXPECT_TRUE(validation->passed());
  EXPECT_GE(validation->steps.size(), 13U);
}

TEST(Validate, NamesTheFieldThatIsWrong) {
  struct Wrong {
    std::string answer;
    std::string complaint;
  };

  const std::vector<Wrong> all = {
      {R"(no)", "the answer is no JSON"},
      {R"({"events":3})", "answer.events: expected a list of events, found 3"},
      {R"({"events":[{"units":[]}]})", "answer.events[0].units: has 0 units; the setup has 1"},
      {R"({"events":[{"units":[{"returned":["x"],"visible":["1"],"stored":[0]}]}]})",
       "answer.events[0].units[0].returned[0]: expected a token id, found \"x\""},
      {R"({"events":[{"units":[{"returned":[0],"visible":["2"],"stored":[0]}]}]})",
       "visible[0]: expected a text of 1 characters 0 and 1"},
      {R"({"events":[{"units":[{"returned":[0],"visible":["1"],"stord":[0]}]}]})",
       "unknown field 'stord'; did you mean 'stored'?"},
      {R"({"events":[{"units":[{"returned":{"values":[0],"keys":[0,1]},"visible":["1"],)"
       R"("stored":[0]}]}]})",
       "returned.keys: has 2 entries for 1 rows"},
      {R"({"events":[]})", "tells of 0 calls of 3, and none was refused"},
  };
  for (const Wrong& wrong : all) {
    const std::string program =
        "while read -r line; do case \"$line\" in"
        " *hello*) echo '{\"protocol\":1,\"name\":\"x\"}';;"
        " *'\"ask\":\"contract\"'*) echo '{\"contract\":{}}';;"
        " *) echo '" +
        wrong.answer + "';; esac; done";
    const auto validation = validate_process(program);
    ASSERT_TRUE(validation);
    EXPECT_FALSE(validation->passed());
    ASSERT_GE(validation->steps.size(), 3U);
    EXPECT_THAT(validation->steps[2].wrong, HasSubstr(wrong.complaint));
  }
}

TEST(ProtocolCommand, HoldsAProgramToTheProtocol) {
  const auto right = test::run({"protocol", example("")});
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("right  hello"));
  EXPECT_THAT(right.out, HasSubstr("0 of them wrong"));
  const auto wrong = test::run({"protocol", "while read -r x; do echo '{\"name\":1}'; done"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, HasSubstr("the field \"protocol\" is missing"));
  EXPECT_THAT(wrong.out, HasSubstr("answer.name: expected a name (a string), found 1"));
}

}  // namespace
}  // namespace kv::properties

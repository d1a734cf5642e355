// Lines that are no answers: too long, too many, too late, or of another request.
#include <sys/resource.h>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

// A window in Python; `deed` is done instead of sending `answer`, which `send` would do.
std::string program(const std::string& deed, bool numbers = true) {
  return "exec env PYTHONPATH='" KVCHECK_SOURCE_DIR
         "/python' python3 -c 'import kvcheck, kvcheck.serving, sys, time\n"
         "class Window:\n"
         "  def __init__(self, budget):\n"
         "    self.budget, self.ids = budget, []\n"
         "  def append(self, tokens):\n"
         "    return [self.take(token) for token in tokens]\n"
         "  def take(self, token):\n"
         "    self.ids = (self.ids + [token])[-self.budget:]\n"
         "    return list(self.ids)\n"
         "  def kept(self):\n"
         "    return self.ids\n"
         "send = kvcheck.serving._Server._send\n"
         "def _send(self, answer):\n"
         "  out = self.write\n"
         "  " +
         std::string(numbers ? "" : "answer.pop(\"numbers\", None)\n  ") + deed +
         "\n"
         "kvcheck.serving._Server._send = _send\n"
         "kvcheck.serve(Window, contract={\"sinks\": 0})'";
}

// What a run of a case fails of, after a run that went well.
std::string failure_of(const std::string& deed,
                       const RemoteOptions& options = {},
                       bool numbers = true) {
  const auto family = make_process_family(program(deed, numbers), options);
  if (!family) return family.error().message;
  const Case what = *parse_case("sinks=0,recent=1,budget=3;stream=random;calls=f2,f3");
  const auto first = run_case(**family, what);
  const auto second = run_case(**family, what);
  return !first ? first.error().message : first->failure + second->failure;
}

const std::string ordinary = "send(self, answer)";

TEST(ProtocolLines, AnOrdinaryProgramFailsOfNothingWithNumbersOrWithout) {
  EXPECT_EQ(failure_of(ordinary), "");
  EXPECT_EQ(failure_of(ordinary, {}, false), "");
}

TEST(ProtocolLines, AnAnswerThatComesTwiceIsNamedAsSuch) {
  // The second comes so late that it is there when the next answer is expected.
  const std::string later =
      "send(self, answer)\n"
      "  if \"events\" in answer: out.flush(); self.last = getattr(self, \"last\", answer)\n"
      "  if \"contract\" in answer: self.before = answer";
  EXPECT_EQ(failure_of(later), "");
  const std::string doubled =
      "if \"events\" in answer and hasattr(self, \"old\"): send(self, self.old)\n"
      "  send(self, answer)\n"
      "  self.old = answer";
  EXPECT_THAT(failure_of(doubled), HasSubstr("a superfluous line: one more answer to request"));
}

TEST(ProtocolLines, WhatIsWrittenBesideAnAnswerIsAFinding) {
  EXPECT_THAT(
      failure_of("send(self, answer)\n  if \"events\" in answer: send(self, answer)"),
      testing::AnyOf(HasSubstr("wrote more than its answer"), HasSubstr("a superfluous line")));
}

TEST(ProtocolLines, AnAnswerToARequestThatWasNotMadeIsNamedAsSuch) {
  EXPECT_THAT(failure_of("if \"number\" in answer: answer[\"number\"] += 1\n  send(self, answer)"),
              HasSubstr("which was not made; the last was request 1"));
}

TEST(ProtocolLines, AnAnswerWithoutItsNumberIsNamedAsSuch) {
  EXPECT_THAT(failure_of("answer.pop(\"number\", None); send(self, answer)"),
              HasSubstr("has no number, though hello says numbers"));
}

TEST(ProtocolLines, ALateAnswerEndsTheProcess) {
  EXPECT_THAT(failure_of("time.sleep(5 if \"events\" in answer else 0); send(self, answer)",
                         {.start_seconds = 60, .seconds = 1}),
              HasSubstr("gave no answer within 1 s"));
}

TEST(ProtocolLines, ALongLineIsCutAtItsLimit) {
  const RemoteOptions short_lines{.longest_line = 1U << 20U};
  const std::string padded =
      "out.write(\" \" * SIZE if \"events\" in answer else \"\"); send(self, answer)";
  const auto of = [&](const std::string& size) {
    std::string deed = padded;
    return failure_of(deed.replace(deed.find("SIZE"), 4, size), short_lines);
  };
  EXPECT_EQ(of("1000000"), "");
  EXPECT_THAT(of("1100000"), HasSubstr("wrote a line of more than 1048576 bytes"));
}

// A line of a gigabyte, and one without end: the checker does not grow with them.
TEST(ProtocolLines, EndlessLinesTakeBoundedMemory) {
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (const std::string size : {"1 << 14", "1 << 62"}) {
    EXPECT_THAT(failure_of("if \"events\" not in answer: return send(self, answer)\n"
                           "  for i in range(" +
                           size + "): out.write(\"x\" * 65536)\n  out.write(\"\\n\"); out.flush()"),
                HasSubstr("wrote a line of more than 268435456 bytes"));
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  constexpr long most_kilobytes = 900L << 10U;  // twice the limit, where a text grows by doubling
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, most_kilobytes);
}

TEST(ProtocolLines, TheFirstAnswerIsBoundedByTheTimeOfTheCheck) {
  const auto ran = test::run({"check", "--exec", "sleep 30", "--time", "1s", "-q"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("gave no answer within 1 s"));
}

}  // namespace
}  // namespace kv::properties

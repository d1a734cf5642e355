// Policies that score a prompt while the model repeats it, from the command line: what runs them,
// and what each other command says.
#include <algorithm>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string bundled = KVCHECK_SOURCE_DIR "/model/data";
const std::string trace = KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";

void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(words));
}

Ran eval(std::vector<std::string> more) {
  more.insert(more.begin(), {"eval", "--model", bundled, "--text",
                             KVCHECK_SOURCE_DIR "/model/data/held-out.txt"});
  return run(more);
}

TEST(RepeatedPromptsCommand, AReplayRefusesThem) {
  const std::vector<std::string> words = {"replay", trace, "--prompt", "100", "--policy"};
  const auto with = [&](const std::string& spec) {
    std::vector<std::string> more = words;
    more.push_back(spec);
    return run(more);
  };
  const std::string reason =
      "scores a prompt while a model repeats it, and no trace records that; run it with 'kvcheck "
      "eval'";
  expect_refused(with("@kvzip-prompt"), reason);
  expect_refused(with("kvzip"), reason);
  const Ran all = with("all");
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("kvzip"));
  EXPECT_THAT(all.out, Not(HasSubstr("kvzip")));
}

TEST(RepeatedPromptsCommand, EvalRunsThemAfterAPromptAlone) {
  const Ran ran = eval({"--tokens", "64", "--prompt", "24", "--policy", "@kvzip-prompt"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("@kvzip-prompt"));
  EXPECT_THAT(ran.err, HasSubstr("the model reads the prompt again without being asked"));
  expect_refused(eval({"-q", "--policy", "kvzip:budget=24"}),
                 "expected compress=prompt or compress=question");
  expect_refused(eval({"-q", "--prompt", "24", "--policy", "kvzip:budget=24;compress=prompt+hold"}),
                 "expected compress=prompt or compress=question");
  expect_refused(eval({"-q", "--policy", "@kvzip-prompt"}), "expected --prompt with");
  expect_refused(eval({"-q", "--prompt", "24", "--policy", "@kvzip-prompt", "--open-loop"}),
                 "--open-loop replays every spec");
}

TEST(RepeatedPromptsCommand, AllPoliciesRunWithoutThem) {
  const Ran ran = eval({"--tokens", "24", "--budget", "16", "--policy", "all"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("snapkv"), Not(HasSubstr("kvzip"))));
  EXPECT_THAT(ran.err, HasSubstr("--policy all is without kvzip, which needs compress=prompt"));
}

TEST(RepeatedPromptsCommand, TasksGiveTheSameBytesOnAnyThreads) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(
      run({"tasks", "story-fact", "--items", "4", "--length", "60", "-o", folder / "items"}).status,
      0);
  const auto with = [&](const std::string& threads) {
    const Ran ran =
        run({"eval", "--model", bundled, "--tasks", folder / "items", "--policy", "@kvzip-prompt",
             "--policy", "kvzip:ratio=0.3,pass=9;compress=prompt;unit=head", "--threads", threads,
             "--json", folder / threads, "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return test::read_text(folder / threads);
  };
  const std::string one = with("1");
  EXPECT_EQ(std::ranges::count(one, '\n'), 8);
  EXPECT_EQ(with("3"), one);
}

// Streams of one text may be fed together.
TEST(RepeatedPromptsCommand, WindowsGiveTheSameBytesOnAnyThreads) {
  const test::TemporaryFolder folder;
  const auto with = [&](const std::string& threads) {
    const Ran ran =
        eval({"--tokens", "257", "--windows", "64", "--no-begin", "--prompt", "24", "--policy",
              "@kvzip-prompt", "--policy", "kvzip:ratio=0.5,pass=7;compress=prompt;chunk=8",
              "--threads", threads, "--json", folder / threads, "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return test::read_text(folder / threads);
  };
  const std::string one = with("1");
  EXPECT_NE(one, "");
  EXPECT_EQ(with("3"), one);
}

TEST(RepeatedPromptsCommand, SpeedAndRecordRunThem) {
  const test::TemporaryFolder folder;
  const std::string text = KVCHECK_SOURCE_DIR "/model/data/held-out.txt";
  const Ran recorded =
      run({"record", "--model", bundled, "--text", text, "--tokens", "40", "--prompt", "24",
           "--policy", "@kvzip-prompt", "-q", "-o", folder / "run.safetensors"});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_EQ(run({"speed", "--model", bundled, "--length", "32", "--tokens", "4", "--policy",
                 "@kvzip-prompt", "-q"})
                .status,
            0);
}

}  // namespace
}  // namespace kv

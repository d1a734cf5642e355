// Phases from the command line: marks of streams, and what tables, files and reports say of them.
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string bundled = KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";

void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr(words));
}

// The first perplexity of each line of JSON, which is over all targets.
std::vector<std::string> perplexities(const std::string& json) {
  const std::string name = "\"perplexity\":";
  std::vector<std::string> out;
  for (const std::string_view line : split(json, '\n')) {
    const std::size_t at = line.find(name);
    if (at != std::string::npos) out.emplace_back(line.substr(at, line.find(',', at) - at));
  }
  return out;
}

TEST(PhasesCommand, ReplayNamesTheShareTheMarksAndTheSetting) {
  const test::TemporaryFolder folder;
  const Ran ran =
      run({"replay", bundled, "--prompt", "256", "--question", "16", "--policy",
           "@snapkv-prompt:ratio=0.25", "--policy", "h2o:ratio=0.5;compress=prompt+hold",
           "--oracle", "-o", folder / "run.db", "--quiet"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("@snapkv-prompt"));
  EXPECT_THAT(ran.out, HasSubstr("  0.25 of 272"));
  EXPECT_THAT(ran.out, HasSubstr("h2o compress=prompt+hold"));
  EXPECT_THAT(ran.out, HasSubstr("timing=attend-then-trim;compress=prompt+hold"));
  EXPECT_EQ(run({"report", folder / "run.db", "-o", folder / "report"}).status, 0);
  const std::string page = test::read_text(folder / "report/index.html");
  EXPECT_THAT(page, HasSubstr("the first 256 tokens are the prompt"));
  EXPECT_THAT(page, HasSubstr("the next 16 its question"));
  // The stored spec has its sizes again.
  EXPECT_THAT(page, HasSubstr("0.25 of 272"));
  EXPECT_THAT(test::read_text(folder / "report/trace-1/cells.jsonl"), HasSubstr("\"budget\":68,"));
}

TEST(PhasesCommand, AShareOfThePromptRunsBesideABudgetForOthers) {
  const Ran ran = run({"replay", bundled, "--prompt", "400", "--policy", "@snapkv-prompt",
                       "--policy", "window", "--policy", "dense", "--budget", "32,64"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("0.5 of 400"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("window +32 "));
  EXPECT_THAT(ran.out, testing::ContainsRegex("window +64 "));
}

TEST(PhasesCommand, WrongMarksAreRefused) {
  const auto replay = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"replay", bundled, "--policy", "@snapkv-prompt"});
    return run(more);
  };
  expect_refused(replay({}), "has no mark there; expected --prompt with");
  expect_refused(replay({"--question", "4"}), "--question is given without --prompt");
  expect_refused(replay({"--prompt", "0"}), "expected a whole number from 1");
  expect_refused(
      replay({"--prompt", "500", "--question", "12"}),
      "which is after 512 tokens, and 'tinystories-2m.qkv.safetensors' has 512; expected "
      "tokens after them");
  expect_refused(replay({"--prompt", "40"}), "keeps 0.5 of 40 tokens");
  expect_refused(replay({"--prompt", "400", "--budget", "64"}), "but --budget asks for 64");
  expect_refused(run({"uniformity", "reservoir;compress=prompt"}), "expected compress=always");
}

class PhasesOfAModel : public testing::Test {
 protected:
  PhasesOfAModel()
      : model_(test::small_llama_that_reads("phases-model")),
        text_(test::temporary_file("phases.txt", "abc abcab: one two three four, abab.")) {}

  std::string model_;
  std::string text_;
};

TEST_F(PhasesOfAModel, ATraceKeepsTheMarksOfItsRecording) {
  const test::TemporaryFolder folder;
  const std::string trace = folder / "a.safetensors";
  const Ran recorded = run({"record", "--model", model_, "--text", text_, "--prompt", "12",
                            "--question", "4", "-o", trace, "--quiet"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string info = run({"trace", "info", trace}).out;
  EXPECT_THAT(info, HasSubstr("\n  prompt      12 tokens\n  question    4 tokens after it\n"));
  EXPECT_THAT(run({"trace", "info", "--json", trace}).out,
              HasSubstr("\"prompt_tokens\":12,\"question_tokens\":4"));
  const std::vector<std::string> replay = {
      "replay", trace, "--policy", "h2o:ratio=0.5;compress=question", "--quiet", "--json", "-"};
  EXPECT_THAT(run(replay).out, HasSubstr("\"budget\":8,"));
  // The command's marks replace the trace's.
  std::vector<std::string> marked = replay;
  marked.insert(marked.end(), {"--prompt", "10"});
  EXPECT_THAT(run(marked).out, HasSubstr("\"budget\":5,"));
}

// A model that compresses its prompt: before the mark it is the dense one, chunks do not matter,
// and a cache that never compresses is the dense one throughout.
TEST_F(PhasesOfAModel, EvalCompressesThePrompt) {
  const auto eval = [&](const std::string& prompt, const std::vector<std::string>& specs) {
    std::vector<std::string> words = {"eval",     "--model", model_,   "--text", text_,
                                      "--prompt", prompt,    "--json", "-",      "--quiet"};
    for (const std::string& spec : specs) words.insert(words.end(), {"--policy", spec});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return perplexities(ran.out);
  };
  const std::string half = "h2o:ratio=0.5;compress=prompt";
  const std::vector<std::string> all =
      eval("14", {"dense", "h2o:budget=4;compress=never", half, half + ";chunk=5",
                  "h2o:budget=7;compress=prompt", half + "+hold"});
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[1], all[0]);
  EXPECT_NE(all[2], all[0]);
  EXPECT_EQ(all[3], all[2]);
  EXPECT_EQ(all[4], all[2]);
  EXPECT_NE(all[5], all[2]);
}

}  // namespace
}  // namespace kv

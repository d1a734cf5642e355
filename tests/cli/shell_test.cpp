// Completions and manual pages.
#include "kvcheck/cli/shell/complete.h"

#include <algorithm>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/commands.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::cli {
namespace {

using test::Ran;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> after(const std::vector<std::string>& words) {
  return completions(commands(), words);
}

TEST(Completion, KnowsCommandsVerbsAndOptions) {
  EXPECT_THAT(after({"rep"}), ElementsAre("replay", "report"));
  EXPECT_THAT(after({"--load", "x.so", "unif"}), ElementsAre("uniformity"));
  EXPECT_THAT(after({"trace", ""}), ElementsAre("info", "verify", "convert", "generate", "slice"));
  EXPECT_THAT(after({"replay", "x", "--pol"}), ElementsAre("--policy"));
  EXPECT_THAT(after({"trace", "generate", "--plan"}), ElementsAre("--planted"));
  EXPECT_THAT(after({"help", "eva"}), ElementsAre("eval"));
  EXPECT_THAT(after({"nothing", ""}), IsEmpty());
}

TEST(Completion, KnowsTheWordsOfOptionsAndLeavesFilesToTheShell) {
  EXPECT_THAT(after({"eval", "--weights", ""}), ElementsAre("as-is", "f32", "int8", "nf4"));
  EXPECT_THAT(after({"eval", "--weights=i"}), ElementsAre("--weights=int8"));
  EXPECT_THAT(after({"replay", "--csv", ""}), IsEmpty());
  EXPECT_THAT(after({"replay", ""}), IsEmpty());
  EXPECT_THAT(after({"replay", "synthetic:z"}), ElementsAre("synthetic:zipf"));
}

TEST(Completion, KnowsLawsAndFigures) {
  EXPECT_THAT(after({"check", "h2o", "--filter", "visible.no"}),
              testing::UnorderedElementsAre("visible.none-empty", "visible.no-future"));
  EXPECT_THAT(after({"judge", "--filter=surv"}), ElementsAre("--filter=survives"));
  EXPECT_THAT(after({"check", "--explain", ""}), Contains("chance.exact"));
  EXPECT_THAT(after({"plot", "re"}), ElementsAre("residency", "recall"));
  EXPECT_THAT(after({"plot", "budget", ""}), IsEmpty());
}

TEST(Completion, KnowsSpecs) {
  EXPECT_THAT(after({"check", "h2"}), ElementsAre("h2o"));
  EXPECT_THAT(after({"replay", "x", "--policy", "@quest"}), ElementsAre("@quest"));
  EXPECT_THAT(after({"replay", "x", "--policy=str"}), ElementsAre("--policy=streaming"));
  EXPECT_THAT(after({"replay", "x", "--policy", "al"}), ElementsAre("all"));
  EXPECT_THAT(after({"check", "h2o:"}), Contains("h2o:budget="));
  EXPECT_THAT(after({"check", "h2o:budget=64,"}), Not(Contains("h2o:budget=64,budget=")));
  EXPECT_THAT(after({"check", "h2o:budget=64,form=real"}),
              ElementsAre("h2o:budget=64,form=real-drop"));
  EXPECT_THAT(after({"check", "h2o;ti"}), ElementsAre("h2o;timing="));
  EXPECT_THAT(after({"check", "@h2o;timing=trim"}), ElementsAre("@h2o;timing=trim-then-attend"));
  EXPECT_THAT(after({"check", "h2o;timing=lazy:"}), IsEmpty());
  EXPECT_THAT(after({"check", "h20:"}), IsEmpty());
}

TEST(Completion, OffersForEveryPolicyFieldsThatItsSpecTakes) {
  for (const PolicyEntry& policy : policy_registry()) {
    for (const std::string& word : after({"check", std::string(policy.name) + ":"})) {
      const auto parsed = parse_spec(word);
      const std::string complaint = parsed ? "" : parsed.error().message;
      EXPECT_THAT(complaint, Not(HasSubstr("does not take"))) << word;
      EXPECT_THAT(complaint, Not(HasSubstr(" field '"))) << word;
    }
  }
}

// Runs the function of the bash script on a line with the cursor at its end.
std::string in_bash(const std::string& line) {
  const Ran ran =
      test::run_shell("cat >script <<'END'\neval \"$($K completion bash)\"\nCOMP_LINE=\"" + line +
                      "\"\nCOMP_POINT=${#COMP_LINE}\n_kvcheck\n"
                      "printf '%s\\n' \"${COMPREPLY[@]}\"\nEND\n"
                      "export K; PATH=$(dirname $K):$PATH bash script; rm script");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

TEST(Completion, WorksInBash) {
  EXPECT_EQ(in_bash("kvcheck unif"), "uniformity\n");
  EXPECT_EQ(in_bash("kvcheck policies @str"), "@streaming-llm\n");
  // What bash keeps, up to the last ':' or '=', is not repeated unless the word is quoted.
  EXPECT_EQ(in_bash("kvcheck check h2o:form=real"), "real-drop\n");
  EXPECT_EQ(in_bash("kvcheck check 'h2o;timing=trim"), "h2o;timing=trim-then-attend\n");
  EXPECT_EQ(in_bash("kvcheck replay --csv "), "\n");
}

TEST(Completion, HasAScriptForEachShellThatItsShellCanRead) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ran ran = test::run({"completion", shell});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("complete -- "));
    const Ran parsed =
        test::run_shell("command -v " + shell + " >/dev/null || exit 0; $K completion " + shell +
                        " | " + shell + " -n");
    EXPECT_EQ(parsed.status, 0) << parsed.err;
  }
  EXPECT_EQ(test::run({"completion", "bsh"}).err,
            "kvcheck completion: unknown shell 'bsh'; did you mean 'bash'? See kvcheck completion "
            "--help\n");
}

TEST(Completion, AndManHaveHelp) {
  for (const std::string verb : {"completion", "man"}) {
    const Ran ran = test::run({verb, "--help"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("Usage:  kvcheck " + verb));
  }
}

TEST(Manual, MakesTheFolderOfItsPages) {
  const test::TemporaryFolder folder;
  const Ran ran = test::run({"man", "-o", folder / "share/man1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(test::read_text(folder / "share/man1/kvcheck.1"), "");
}

TEST(Manual, HasAPageForEveryCommandThatManAccepts) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(test::run({"man", "-o", folder / ""}).status, 0);
  const std::vector<std::string> names = folder.names();
  EXPECT_THAT(names, Contains("kvcheck.1"));
  EXPECT_THAT(names, Contains("kvcheck-trace-generate.1"));
  for (const Command* const command : commands()) {
    EXPECT_THAT(names, Contains("kvcheck-" + std::string(command->name) + ".1"));
  }
  for (const std::string& name : names) {
    const Ran ran = test::run_shell(
        "command -v groff >/dev/null || exit 0; groff -man -Tutf8 -ww '" + (folder / name) + "'");
    EXPECT_EQ(ran.err, "") << name;
  }
}

// man(1) indents these lines by seven columns, and folds none of them. A long word is not broken.
TEST(Manual, FitsATerminalOf80Columns) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(test::run({"man", "-o", folder / ""}).status, 0);
  for (const std::string& name : folder.names()) {
    bool as_it_is = false;
    const std::string page = test::read_text(folder / name);
    for (const std::string_view line : split(page, '\n')) {
      if (line == ".nf" || line == ".fi") as_it_is = line == ".nf";
      const auto escapes = static_cast<std::size_t>(std::ranges::count(line, '\\'));
      const std::size_t shown = as_it_is ? line.size() - escapes : 0;
      EXPECT_LE(shown, 73U) << name << ": " << line;
    }
  }
}

TEST(Manual, DescribesWordsThatAreNoCommandsOfTheirOwn) {
  EXPECT_THAT(test::run({"man", "completion"}).out, HasSubstr(".TH KVCHECK-COMPLETION 1"));
  EXPECT_THAT(test::run({"man", "man"}).out, HasSubstr("Prints a manual page"));
  EXPECT_THAT(test::run({"man", "trace", "convert"}).out, HasSubstr(".TH KVCHECK-TRACE 1 "));
  EXPECT_EQ(test::run({"man", "trace", "invert"}).status, 2);
}

TEST(Manual, HasTheOptionsAndExamplesOfItsCommand) {
  const Ran ran = test::run({"man", "replay"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr(".TH KVCHECK-REPLAY 1 "));
  EXPECT_THAT(ran.out,
              HasSubstr(".SH SYNOPSIS\n.nf\nkvcheck replay TRACE... \\-\\-policy SPEC..."));
  EXPECT_THAT(ran.out, HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(ran.out, HasSubstr(".SH EXAMPLES\n.nf\n  kvcheck replay trace.safetensors"));
  EXPECT_EQ(test::run({"man", "replya"}).status, 2);
}

}  // namespace
}  // namespace kv::cli

#include "kvcheck/cli/commands.h"

#include <cctype>
#include <new>
#include <sstream>
#include <stdexcept>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::cli {
namespace {

using test::Ran;
using testing::HasSubstr;
using testing::Not;

Ran ran(const Command& command, const std::vector<std::string>& arguments = {}) {
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{out, err, false};
  const int status = run_command(command, arguments, streams);
  return {status, out.str(), err.str()};
}

Command command_that(Result<Outcome> (*run)(std::span<const std::string>, Streams&)) {
  return {"try", "tries", "Tries things.\n", run};
}

TEST(Kvcheck, ListsEveryCommandWithItsSummary) {
  const Ran help = test::run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  for (const Command* command : commands()) {
    EXPECT_THAT(help.out, HasSubstr("  " + std::string(command->name) + " "));
    EXPECT_THAT(help.out, HasSubstr(std::string(command->summary)));
  }
  EXPECT_EQ(test::run({"help"}).out, help.out);
  EXPECT_EQ(test::run({"-h"}).out, help.out);
}

TEST(Kvcheck, WithoutACommandHelpsButIsNoSuccess) {
  const Ran nothing = test::run({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_EQ(nothing.err, test::run({"--help"}).out);
}

TEST(Kvcheck, TellsItsVersion) {
  for (const std::string word : {"--version", "-V", "version"}) {
    EXPECT_THAT(test::run({word}).out,
                testing::StartsWith("kvcheck " + std::string(version) + "\nkernels: "));
  }
}

TEST(Kvcheck, NamesTheNearestCommand) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"repaly", "x"}, std::vector<std::string>{"help", "repaly"}}) {
    const Ran unknown = test::run(arguments);
    EXPECT_EQ(unknown.status, 2);
    EXPECT_EQ(unknown.out, "");
    EXPECT_THAT(unknown.err,
                HasSubstr("kvcheck: unknown command 'repaly'; did you mean 'replay'? See kvcheck "
                          "--help\n"));
  }
  EXPECT_THAT(test::run({"--vresion"}).err, HasSubstr("did you mean '--version'?"));
  EXPECT_EQ(test::run({"help", "replay", "x"}).status, 2);
  EXPECT_EQ(test::run({"help", "trace", "generate", "x"}).status, 2);
  EXPECT_THAT(test::run({"help", "repaly", "x"}).err, HasSubstr("repaly"));
  EXPECT_EQ(test::run({"help", "--help"}).out, test::run({"help"}).out);
  EXPECT_EQ(test::run({"help", "trace", "info"}).out, test::run({"help", "trace"}).out);
}

TEST(Kvcheck, GivesTheSameHelpInThreeWays) {
  for (const Command* command : commands()) {
    const std::string name(command->name);
    const Ran help = test::run({name, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out, test::run({"help", name}).out);
    EXPECT_EQ(help.out, test::run({name, "some", "words", "-h"}).out);
    EXPECT_THAT(help.out, HasSubstr("kvcheck " + name));
    EXPECT_THAT(help.out, Not(HasSubstr("{options}")));
    for (const Option& option : command->options) {
      EXPECT_THAT(help.out, HasSubstr("--" + std::string(option.name)));
    }
    for (const Command* verb : command->verbs) {
      const std::string word(verb->name);
      EXPECT_EQ(test::run({"help", name, word}).out, test::run({name, word, "--help"}).out);
      EXPECT_NE(test::run({"help", name, word}).out, help.out);
    }
  }
}

// "write a run's report" as "Writes a run's report".
std::string as_sentence(std::string_view summary) {
  const std::size_t verb = summary.find(' ');
  std::string out(summary.substr(0, verb));
  out[0] = static_cast<char>(std::toupper(out[0]));
  return out + "s" + std::string(summary.substr(verb));
}

TEST(Kvcheck, HelpsWithEveryCommandInTheSameForm) {
  for (const Command* command : commands()) {
    const std::string name(command->name);
    const std::string help = test::run({name, "--help"}).out;
    const std::vector<std::string_view> lines = split(help, '\n');
    // The same up to a second verb, which changes its form too.
    const std::string sentence = as_sentence(command->summary);
    EXPECT_EQ(lines[0].substr(0, lines[0].find_first_of(",;.")),
              sentence.substr(0, sentence.find_first_of(",;")));
    EXPECT_TRUE(lines[0].ends_with('.'));
    EXPECT_EQ(lines[1], "");
    EXPECT_THAT(std::string(lines[2]), testing::StartsWith("Usage:  kvcheck " + name + " "));
    for (std::size_t i = 3; !lines[i].empty(); ++i) {
      if (lines[i].starts_with("          ")) continue;  // continues the line before
      EXPECT_THAT(std::string(lines[i]), testing::StartsWith("        kvcheck " + name + " "));
    }
    EXPECT_THAT(help, HasSubstr("\nExamples:\n  kvcheck " + name));
    EXPECT_THAT(help, HasSubstr("  -h, --help"));
    EXPECT_FALSE(command->options.empty()) << name;
    for (const std::string_view line : lines) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Kvcheck, ExplainsSpecsWhereTheyAreGiven) {
  const std::string help = test::run({"replay", "--help"}).out;
  const std::size_t at = help.find("\nSpecs:\n");
  ASSERT_NE(at, std::string::npos);
  const std::string part = help.substr(at, help.find("\nExamples:") - at);
  EXPECT_THAT(part, HasSubstr("kvcheck policies"));
  std::size_t examples = 0;
  for (std::string_view line : split(part, '\n')) {
    if (!line.starts_with("    ")) continue;
    line.remove_prefix(4);
    if (line.starts_with('\'')) line = line.substr(1, line.size() - 2);
    EXPECT_TRUE(parse_spec(line)) << line;
    ++examples;
  }
  EXPECT_EQ(examples, 3U);
}

TEST(Command, PutsItsOptionsWhereItsHelpSaysSo) {
  static constexpr Option option{.name = "deep", .value = "N", .help = "how deep"};
  Command command = command_that(nullptr);
  command.help = "Before.\n{options}\nAfter.";
  command.options = {&option, 1};
  EXPECT_EQ(ran(command, {"--help"}).out, "Before.\n      --deep N  how deep\nAfter.\n");
}

TEST(Command, PointsToItsHelpAfterAUsageErrorOnly) {
  const Ran usage = ran(
      command_that([](auto, Streams&) -> Result<Outcome> { return usage_error("no such word"); }));
  EXPECT_EQ(usage.status, 2);
  EXPECT_EQ(usage.err, "kvcheck try: no such word; see kvcheck try --help\n");
  const Ran input =
      ran(command_that([](auto, Streams&) -> Result<Outcome> { return malformed("bad file"); }));
  EXPECT_EQ(input.status, 2);
  EXPECT_EQ(input.err, "kvcheck try: bad file\n");
}

TEST(Command, EndsAnExceptionWithASentence) {
  const Ran memory =
      ran(command_that([](auto, Streams&) -> Result<Outcome> { throw std::bad_alloc(); }));
  EXPECT_EQ(memory.status, 3);
  EXPECT_EQ(memory.err, "kvcheck try: out of memory\n");
  const Ran other = ran(command_that(
      [](auto, Streams&) -> Result<Outcome> { throw std::runtime_error("the sky fell"); }));
  EXPECT_EQ(other.status, 3);
  EXPECT_EQ(other.err, "kvcheck try: internal error: the sky fell\n");
  const Ran unknown = ran(command_that([](auto, Streams&) -> Result<Outcome> { throw 7; }));
  EXPECT_EQ(unknown.status, 3);
  EXPECT_EQ(unknown.err, "kvcheck try: internal error: an exception of an unknown kind\n");
}

TEST(Command, GivesItsVerdictAsItsStatus) {
  const Ran holds = ran(command_that([](auto, Streams& to) -> Result<Outcome> {
    to.out << "12 laws hold\n";
    return Outcome::done;
  }));
  EXPECT_EQ(holds.status, 0);
  const Ran broken = ran(command_that([](auto, Streams& to) -> Result<Outcome> {
    to.out << "never-empty is broken\n";
    return Outcome::law_broken;
  }));
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(broken.out, "never-empty is broken\n");
  EXPECT_EQ(broken.err, "");
}

TEST(Kvcheck, SaysWhatItsExitStatusMeans) {
  EXPECT_THAT(test::run({"--help"}).out,
              HasSubstr("Exit status: 0 done, or every law holds; 1 a law is broken; 2 usage"));
}

TEST(Kvcheck, SaysHowKernelsAreSelected) {
  EXPECT_THAT(test::run({"--help"}).out, HasSubstr("Environment: KV_KERNEL="));
  EXPECT_THAT(test::run({"man"}).out, HasSubstr(".SH ENVIRONMENT\n.nf\nKV_KERNEL="));
}

TEST(Command, FailsWhenItsOutputCannotBeWritten) {
  struct Refusing final : std::streambuf {
  } refusing;

  std::ostream out(&refusing);
  std::ostringstream err;
  Streams streams{out, err, false};
  const Command command = command_that([](auto, Streams& to) -> Result<Outcome> {
    to.out << "words";
    return Outcome::done;
  });
  EXPECT_EQ(run_command(command, {}, streams), 2);
  EXPECT_EQ(err.str(), "kvcheck try: cannot write to standard output\n");
}

}  // namespace
}  // namespace kv::cli

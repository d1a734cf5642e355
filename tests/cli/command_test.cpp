#include "cli/command.h"

#include <new>
#include <sstream>
#include <stdexcept>

#include "base/version.h"
#include "tests/cli/run.h"

namespace kv::cli {
namespace {

using test::Ran;
using testing::HasSubstr;
using testing::Not;

Ran ran(const Command& command, const std::vector<std::string>& words = {}) {
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{out, err, false};
  const int status = run_command(command, words, streams);
  return {status, out.str(), err.str()};
}

Command command_that(Result<void> (*run)(std::span<const std::string>, Streams&)) {
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
  EXPECT_EQ(test::run({"--version"}).out, "kvcheck " + std::string(version) + "\n");
}

TEST(Kvcheck, NamesTheNearestCommand) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"repaly", "x"}, std::vector<std::string>{"help", "repaly"}}) {
    const Ran unknown = test::run(words);
    EXPECT_EQ(unknown.status, 2);
    EXPECT_EQ(unknown.out, "");
    EXPECT_THAT(unknown.err,
                HasSubstr("kvcheck: unknown command 'repaly'; did you mean 'replay'?"));
    EXPECT_THAT(unknown.err, HasSubstr("; see kvcheck --help\n"));
  }
  EXPECT_THAT(test::run({"--vresion"}).err, HasSubstr("did you mean '--version'?"));
  EXPECT_EQ(test::run({"help", "replay", "x"}).status, 2);
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
  }
}

TEST(Command, PutsItsOptionsWhereItsHelpSaysSo) {
  static constexpr Option option{.name = "deep", .value = "N", .help = "how deep"};
  Command command = command_that(nullptr);
  command.help = "Before.\n{options}\nAfter.";
  command.options = {&option, 1};
  EXPECT_EQ(ran(command, {"--help"}).out, "Before.\n      --deep N  how deep\nAfter.\n");
}

TEST(Command, PointsToItsHelpAfterAUsageErrorOnly) {
  const Ran usage =
      ran(command_that([](auto, Streams&) -> Result<void> { return usage_error("no such word"); }));
  EXPECT_EQ(usage.status, 2);
  EXPECT_EQ(usage.err, "kvcheck try: no such word; see kvcheck try --help\n");
  const Ran input =
      ran(command_that([](auto, Streams&) -> Result<void> { return malformed("bad file"); }));
  EXPECT_EQ(input.status, 2);
  EXPECT_EQ(input.err, "kvcheck try: bad file\n");
}

TEST(Command, EndsAnExceptionWithASentence) {
  const Ran memory =
      ran(command_that([](auto, Streams&) -> Result<void> { throw std::bad_alloc(); }));
  EXPECT_EQ(memory.status, 3);
  EXPECT_EQ(memory.err, "kvcheck try: out of memory\n");
  const Ran other = ran(command_that(
      [](auto, Streams&) -> Result<void> { throw std::runtime_error("the sky fell"); }));
  EXPECT_EQ(other.status, 3);
  EXPECT_EQ(other.err, "kvcheck try: internal error: the sky fell\n");
}

TEST(Command, FailsWhenItsOutputCannotBeWritten) {
  struct Refusing final : std::streambuf {
  } refusing;

  std::ostream out(&refusing);
  std::ostringstream err;
  Streams streams{out, err, false};
  const Command command = command_that([](auto, Streams& to) -> Result<void> {
    to.out << "words";
    return {};
  });
  EXPECT_EQ(run_command(command, {}, streams), 2);
  EXPECT_EQ(err.str(), "kvcheck try: cannot write to standard output\n");
}

}  // namespace
}  // namespace kv::cli

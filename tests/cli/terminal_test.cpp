#include "kvcheck/cli/options/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/check/result_colours.h"
#include "kvcheck/cli/commands.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::cli {
namespace {

using test::Ran;
using testing::HasSubstr;
using testing::Not;

// The slave side of a pseudo-terminal of 72 columns.
class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    winsize size{};
    size.ws_col = 72;
    ASSERT_EQ(::openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    for (const char* name : {"COLUMNS", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }

  void TearDown() override {
    for (const char* name : {"COLUMNS", "NO_COLOR"}) ::unsetenv(name);
    ::close(master_);
    ::close(slave_);
  }

  int master_ = -1;
  int slave_ = -1;
};

TEST_F(Terminal, HasTheColumnsThatItOrTheUserSays) {
  EXPECT_EQ(columns_of(slave_), 72U);
  ::setenv("COLUMNS", "90", 1);
  EXPECT_EQ(columns_of(slave_), 90U);
  for (const char* wrong : {"", "9", "-90", "wide", "90x", "99999999999999999999999"}) {
    ::setenv("COLUMNS", wrong, 1);
    EXPECT_EQ(columns_of(slave_), 72U) << wrong;
  }
  ::unsetenv("COLUMNS");
  const int file = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(columns_of(file), 0U);
  ::close(file);
}

TEST_F(Terminal, ShowsColoursUnlessTheUserOrTheTerminalDoesNotWantThem) {
  EXPECT_TRUE(colours_on(slave_));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(colours_on(slave_));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(colours_on(slave_));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(colours_on(slave_));
  ::setenv("TERM", "xterm", 1);
  const int file = ::open("/dev/null", O_RDONLY);
  EXPECT_FALSE(colours_on(file));
  ::close(file);
}

TEST(Folded, BreaksLongLinesAtSpacesUnderTheirText) {
  EXPECT_EQ(folded("short\n\nlines remain\n", 20), "short\n\nlines remain\n");
  EXPECT_EQ(folded("one two three four five", 12), "one two\nthree four\nfive");
  EXPECT_EQ(folded("  one two three four", 12), "  one two\n  three four");
  EXPECT_EQ(folded("  --name  what it is for", 20), "  --name  what it is\n          for");
  EXPECT_EQ(folded("one two three\nfour five\n\nsix", 10), "one two\nthree four\nfive\n\nsix");
  EXPECT_EQ(folded("one two three\n  four", 10), "one two\nthree\n  four");
  EXPECT_EQ(folded("a: two three\nb: four", 10), "a: two\nthree\nb: four");
  EXPECT_EQ(folded("a_word_that_does_not_fit at all", 10), "a_word_that_does_not_fit\nat all");
  EXPECT_EQ(folded("\xC3\xA9\xC3\xA9\xC3\xA9 \xC3\xA9\xC3\xA9\xC3\xA9", 7),
            "\xC3\xA9\xC3\xA9\xC3\xA9 \xC3\xA9\xC3\xA9\xC3\xA9");
  EXPECT_EQ(folded("any width is right", 0), "any width is right");
}

TEST(Folded, KeepsExamplesAsCommands) {
  const std::string text =
      "Examples:\n"
      "  kvcheck replay trace --policy all\n"
      "  kvcheck plot budget run.db --policies 'a b' --policies tova \\\n"
      "      -o out.svg\n"
      "  kvcheck version\n"
      "\n"
      "one two three four five six seven";
  EXPECT_EQ(folded(text, 80), text);
  EXPECT_EQ(folded(text, 36),
            "Examples:\n"
            "  kvcheck replay trace --policy all\n"
            "  kvcheck plot budget run.db \\\n"
            "      --policies 'a b' \\\n"
            "      --policies tova -o out.svg\n"
            "  kvcheck version\n"
            "\n"
            "one two three four five six seven");
  EXPECT_THAT(folded(text, 20),
              HasSubstr("\n  kvcheck replay \\\n      trace \\\n      --policy all\n"));
}

// What remains of a page's examples after a shell has joined their lines.
std::vector<std::string> examples_of(const std::string& text, std::string_view heading) {
  std::vector<std::string> commands(1);
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return {};
  std::vector<std::string_view> lines = split(std::string_view(text).substr(begin), '\n');
  for (std::size_t i = 1; i < lines.size() && lines[i].starts_with("  "); ++i) {
    const bool open = lines[i].ends_with(" \\");
    const std::size_t indent = lines[i].find_first_not_of(' ');
    commands.back() += lines[i].substr(indent, lines[i].size() - indent - (open ? 1 : 0));
    if (!open) commands.emplace_back();
  }
  commands.pop_back();
  return commands;
}

TEST(Folded, ExamplesOfEveryHelpAreTheSameCommandsAtEveryWidth) {
  std::size_t compared = 0;
  for (const Command* const command : commands()) {
    const std::vector<std::string> examples = examples_of(std::string(command->help), "Examples");
    for (const std::size_t columns : {40U, 60U, 80U}) {
      EXPECT_EQ(examples_of(folded(command->help, columns), "Examples"), examples) << command->name;
    }
    compared += examples.size();
  }
  EXPECT_GT(compared, 50U);
}

TEST(Folded, LosesNoWordOfAnyHelp) {
  for (const char* command : {"replay", "check", "trace", "eval", "policies"}) {
    const std::string whole = test::run({"help", command}).out;
    const std::string narrow = folded(whole, 60);
    const auto words = [](const std::string& text) {
      std::string one = text;
      for (char& c : one) c = c == '\n' ? ' ' : c;
      std::string joined;
      for (const std::string_view word : split(one, ' ')) {
        if (!word.empty() && word != "\\") joined += std::string(word) + " ";
      }
      return joined;
    };
    EXPECT_EQ(words(narrow), words(whole));
    for (const std::string_view line : split(narrow, '\n')) {
      const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string_view::npos;
      EXPECT_TRUE(one_word || line.size() <= 60U) << line;
    }
  }
}

TEST(Program, FitsItsTablesAndHelpIntoTheColumns) {
  const std::string trace = KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";
  for (const std::string& command :
       {"replay " + trace + " --policy h2o --policy streaming:sinks=4 --budget 64 --oracle",
        std::string("help replay"), std::string("replay --help"), std::string("policies h2o"),
        std::string("check --list"), std::string("check --explain visible.sinks"),
        std::string("check h2o:budget=64 --filter 'visible.*' --all"), "trace info " + trace,
        std::string("trace generate --list"),
        std::string("uniformity reservoir:sinks=1,recent=2,budget=7 --tokens 19 --trials 500")}) {
    const Ran ran = test::run_shell("COLUMNS=80 $K " + command);
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (const std::string_view line : split(ran.out, '\n')) {
      EXPECT_LE(reports::display_width(line), 80U) << line;
    }
  }
}

// A long spec is one word, which has a line of its own, near the left edge.
TEST(Program, FoldsListsOfPolicies) {
  for (const std::string command : {"policies", "policies --brief"}) {
    const Ran ran = test::run_shell("COLUMNS=80 $K " + command);
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (const std::string_view line : split(ran.out, '\n')) {
      const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
      const bool one_word = indent <= 6 && line.find(' ', indent) == std::string_view::npos;
      EXPECT_TRUE(one_word || reports::display_width(line) <= 80U) << line;
    }
  }
  const Ran piped = test::run_shell("$K policies --brief | grep -c .");
  const Ran names = test::run_shell("$K policies --json | grep -c .");
  EXPECT_EQ(piped.out, names.out);  // a line each
}

TEST(ResultColours, AreOfWhatIsBrokenAndOfWhatWasNotRun) {
  const std::string text =
      "h2o\n\nBROKEN  size.full\n    law       it is full\n\nsize.full    broken       3  see "
      "above\n"
      "rows.order   not run      0  no case\n\n4 laws hold, 1 broken, 1 not run\n"
      "The subject breaks its laws.\n";
  const std::string shown = with_colours(text);
  EXPECT_THAT(shown, HasSubstr("\n\x1b[1;31mBROKEN  size.full\x1b[0m\n"));
  EXPECT_THAT(shown, HasSubstr("\x1b[1;31msize.full    broken       3  see above\x1b[0m\n"));
  EXPECT_THAT(shown, HasSubstr("\x1b[33mrows.order   not run"));
  EXPECT_THAT(shown, HasSubstr("\n4 laws hold, 1 broken"));
  EXPECT_THAT(with_colours("1 law holds, 0 broken\n"), HasSubstr("\x1b[32m1 law holds\x1b[0m, 0"));
  EXPECT_THAT(with_colours("4 laws hold, 0 broken\n"), HasSubstr("\x1b[32m4 laws hold\x1b[0m, 0"));
  std::string without;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (shown[at] != '\x1b') {
      without += shown[at];
    } else {
      at = shown.find('m', at);
    }
  }
  EXPECT_EQ(without, text);
}

}  // namespace
}  // namespace kv::cli

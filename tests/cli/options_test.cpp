#include "kvcheck/cli/options/options.h"

#include <array>

namespace kv::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<Option, 5> table = {{
    {.name = "policy", .value = "SPEC", .help = "a policy", .list = true},
    {.name = "budget", .value = "N,...", .help = "residents"},
    {.name = "seed", .value = "N", .default_value = "7", .help = "the seed"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "where to"},
    {.name = "quiet", .letter = 'q', .help = "say nothing"},
}};

Arguments parsed(const std::vector<std::string>& arguments) {
  Result<Arguments> result = Arguments::parse(table, arguments);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

Error refused(const std::vector<std::string>& arguments) {
  const Result<Arguments> result = Arguments::parse(table, arguments);
  return result ? Error{Error::Kind::io, "accepted"} : result.error();
}

TEST(Options, AreTheSameWithAnEqualsSignAndWithASpace) {
  EXPECT_EQ(parsed({"--budget", "4"}).value("budget"), "4");
  EXPECT_EQ(parsed({"--budget=4"}).value("budget"), "4");
  EXPECT_EQ(parsed({"-o", "f"}).value("output"), "f");
  EXPECT_EQ(parsed({"-of"}).value("output"), "f");
  EXPECT_EQ(parsed({"--output=a=b"}).value("output"), "a=b");
}

TEST(Options, KeepOperandsInOrderAroundThem) {
  EXPECT_THAT(parsed({"a", "-q", "b", "-", "--seed", "1", "c"}).operands(),
              ElementsAre("a", "b", "-", "c"));
}

TEST(Options, EndAtTwoDashes) {
  const Arguments arguments = parsed({"--", "--quiet", "-o", "--"});
  EXPECT_FALSE(arguments.given("quiet"));
  EXPECT_THAT(arguments.operands(), ElementsAre("--quiet", "-o", "--"));
}

TEST(Options, CollectListsInOrder) {
  EXPECT_THAT(parsed({"--policy", "b", "--policy=a"}).values("policy"), ElementsAre("b", "a"));
}

TEST(Options, FallBackToTheirDefaultOnlyWhenNotGiven) {
  EXPECT_EQ(parsed({}).value("seed"), "7");
  EXPECT_FALSE(parsed({}).given("seed"));
  EXPECT_EQ(parsed({"--seed", "8"}).value("seed"), "8");
  EXPECT_EQ(parsed({}).value("budget"), "");
}

TEST(Options, TakeALoneDashAndANegativeNumberAsValues) {
  EXPECT_EQ(parsed({"-o", "-"}).value("output"), "-");
  EXPECT_EQ(parsed({"--seed", "-5"}).value("seed"), "-5");
  EXPECT_EQ(parsed({"--seed", "-5"}).count("seed", 0, 9).error().message,
            "--seed is '-5'; expected a whole number from 0 to 9");
}

TEST(Options, RefuseWhatIsNotInTheTableAndNameTheNearest) {
  const Error error = refused({"--bugdet", "4"});
  EXPECT_EQ(error.kind, Error::Kind::usage);
  EXPECT_THAT(error.message, HasSubstr("'--bugdet'; did you mean '--budget'?"));
  EXPECT_THAT(refused({"-x"}).message, HasSubstr("unknown option '-x'"));
  EXPECT_THAT(refused({"--bugdet=4"}).message, HasSubstr("'--bugdet'"));
}

TEST(Options, RefuseRepetitionUnlessTheyAreLists) {
  EXPECT_EQ(refused({"--seed", "1", "--seed=1"}).message, "--seed is given more than once");
  EXPECT_EQ(refused({"-q", "--quiet"}).message, "--quiet is given more than once");
}

TEST(Options, SayThatAValueIsMissing) {
  EXPECT_EQ(refused({"--budget"}).message, "--budget needs a value (N,...)");
  EXPECT_EQ(refused({"-o"}).message, "--output needs a value (FILE)");
  EXPECT_EQ(refused({"--budget", "--seed", "3"}).message,
            "--budget needs a value (N,...), but '--seed' follows");
  EXPECT_EQ(refused({"--budget", "-q"}).message,
            "--budget needs a value (N,...), but '-q' follows");
}

TEST(Options, RefuseAValueForASwitch) {
  EXPECT_EQ(refused({"--quiet=yes"}).message,
            "--quiet takes no value, but is given as '--quiet=yes'");
  EXPECT_EQ(refused({"-qx"}).message, "--quiet takes no value, but is given as '-qx'");
}

TEST(Options, ReadListsOfCounts) {
  EXPECT_THAT(*parsed({"--budget", "64,8"}).counts("budget", 1, 64), ElementsAre(64, 8));
  EXPECT_THAT(*parsed({}).counts("budget", 1, 64), IsEmpty());
  EXPECT_EQ(parsed({"--budget", "8,8"}).counts("budget", 1, 64).error().message,
            "--budget names 8 twice");
  for (const char* bad : {"", "8,", ",8", "0", "65", "8;9", "1e1", "18446744073709551616"}) {
    EXPECT_FALSE(parsed({std::string("--budget=") + bad}).counts("budget", 1, 64)) << bad;
  }
}

TEST(Options, CountTheOperands) {
  EXPECT_TRUE(parsed({"a", "b"}).expect_operands("a TRACE", 1, 2));
  EXPECT_EQ(parsed({}).expect_operands("a TRACE", 1, 2).error().message,
            "expected a TRACE, found none");
  EXPECT_EQ(parsed({"a", "b", "c"}).expect_operands("a TRACE", 1, 2).error().message,
            "unexpected argument 'c'");
}

TEST(OptionTable, ShowsNameValueDefaultAndHelpOfEveryOption) {
  EXPECT_EQ(option_table(table),
            "      --policy SPEC   a policy; may be repeated\n"
            "      --budget N,...  residents\n"
            "      --seed N        the seed [7]\n"
            "  -o, --output FILE   where to\n"
            "  -q, --quiet         say nothing\n");
}

TEST(OptionTable, WrapsLongHelpWithinAHundredColumns) {
  std::string arguments;
  for (int i = 0; i < 60; ++i) arguments += "word ";
  const std::array<Option, 1> one = {{{.name = "long", .help = arguments}}};
  const std::string text = option_table(one);
  std::size_t begin = 0;
  std::size_t lines = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100U);
    begin = end + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 4U);
}

TEST(Options, AreRefusedInOneLine) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--quiet=\n"}, {"-o", "--x\n"}, {"--\n"}}) {
    EXPECT_THAT(refused(arguments).message, testing::Not(HasSubstr("\n")));
    EXPECT_NE(refused(arguments).message, "accepted");
  }
  const Result<void> operands = parsed({"a", "b\nc"}).expect_operands("a file", 1, 1);
  ASSERT_FALSE(operands);
  EXPECT_EQ(operands.error().message, "unexpected argument 'b\\x0ac'");
}

}  // namespace
}  // namespace kv::cli

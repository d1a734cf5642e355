#include "kvcheck/policies/entry.h"

#include <array>

#include "kvcheck/policies/registry/registry.h"

namespace kv {
namespace {

constexpr Parameter window = {
    .name = "window", .default_value = "32", .meaning = "m", .range = counts(1, 4096)};
constexpr Parameter step = {
    .name = "step", .default_value = "0.5", .meaning = "m", .range = reals(0, 10)};

std::string error_of(const Parameter& parameter, std::string_view value) {
  const auto legal = legal_value(parameter, value);
  return legal ? "legal: " + *legal : legal.error().message;
}

TEST(LegalValue, WritesNumbersInTheirShortestForm) {
  EXPECT_EQ(legal_value(window, "032").value(), "32");
  EXPECT_EQ(legal_value(window, "4096").value(), "4096");
  EXPECT_EQ(legal_value(step, "0.50").value(), "0.5");
  EXPECT_EQ(legal_value(step, "-0").value(), "0");
  EXPECT_EQ(legal_value(step, "1e1").value(), "10");
}

TEST(LegalValue, NamesTheRangeOfANumberThatIsNone) {
  for (const char* wrong : {"0", "4097", "-1", "3.5", "x", "", "99999999999999999999"}) {
    EXPECT_EQ(error_of(window, wrong),
              "window is '" + std::string(wrong) + "'; expected a whole number from 1 to 4096");
  }
  for (const char* wrong : {"-0.1", "10.5", "nan", "inf", "0,5"}) {
    EXPECT_EQ(error_of(step, wrong),
              "step is '" + std::string(wrong) + "'; expected a number from 0 to 10");
  }
}

TEST(LegalValue, NamesTheNearestWord) {
  EXPECT_EQ(error_of(find_policy("reservoir")->parameters.front(), "bottomk"),
            "unknown algorithm 'bottomk'; did you mean 'bottom-k'?");
}

// By edits '1' is as near to '4' as '3' is.
TEST(LegalValue, NamesTheNearestNumbersWhereAllWordsAreNumbers) {
  const Parameter& kernel = find_policy("snapkv")->parameters[1];
  EXPECT_EQ(error_of(kernel, "4"), "unknown kernel '4'; did you mean '3' or '5'?");
  EXPECT_EQ(error_of(kernel, "14"), "unknown kernel '14'; did you mean '13'?");
  EXPECT_EQ(error_of(kernel, "0"), "unknown kernel '0'; did you mean '1'?");
  EXPECT_THAT(error_of(kernel, "x"), testing::StartsWith("unknown kernel 'x'"));
}

TEST(Options, TellNumbers) {
  const std::array<Parameter, 2> parameters = {window, step};
  Options options(parameters);
  EXPECT_EQ(options.count("window"), 32U);
  EXPECT_EQ(options.real("step"), 0.5);
  options.set("window", "7");
  options.set("step", "2.25");
  EXPECT_EQ(options.count("window"), 7U);
  EXPECT_EQ(options.real("step"), 2.25);
  EXPECT_DEATH(options.set("window", "07"), "legal");
  EXPECT_DEATH((void)options.count("step"), "status");
}

}  // namespace
}  // namespace kv

// Traces that are shorter than a budget of the replay.
#include <algorithm>

#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of several traces, the short ones are named and the others replayed.
TEST(ShortTraces, LeavesOutWhatIsTooShortByName) {
  const std::vector<std::string> shared = {"replay",
                                           "synthetic:uniform:tokens=40",
                                           "synthetic:uniform:tokens=100",
                                           "--policy",
                                           "window",
                                           "--json",
                                           "-"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = shared;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run(arguments);
  };
  const auto lines = [](const test::Ran& ran) { return std::ranges::count(ran.out, '\n'); };
  const test::Ran one = with({"--budget", "64"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(lines(one), 1);
  EXPECT_THAT(one.err, HasSubstr("' is left out: budget 64 is above its 40 tokens. --strict"));
  EXPECT_EQ(with({"--budget", "64", "--quiet"}).err, one.err);
  const test::Ran some = with({"--budget", "32,64,90"});
  EXPECT_EQ(lines(some), 1 + 3);
  EXPECT_THAT(some.err, HasSubstr("' is replayed without budgets 64, 90, above its 40 tokens."));
  // What is left out has no further note, and what has no budget is named.
  const auto alone =
      test::run({"replay", "synthetic:uniform:tokens=100,kind=qkv", "--policy", "window",
                 "--policy", "dense;visibility=top-pages:128/16/0", "--budget", "64,200"});
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("' is replayed without budget 200, dense;visibility=top-pages:"
                                   "128/16/0, above its 100 tokens."));
  EXPECT_THAT(alone.err, Not(HasSubstr("no token is left out")));
  // Nothing that evicts is left of the short trace, though dense would be.
  EXPECT_EQ(lines(with({"--budget", "64", "--policy", "dense"})), 2);
  const test::Ran strict = with({"--budget", "64", "--strict"});
  EXPECT_EQ(strict.status, 2);
  EXPECT_EQ(strict.out, "");
  EXPECT_THAT(strict.err, HasSubstr("budget 64 is above the 40 tokens of 'uniform:"));
  const test::Ran none = with({"--budget", "101"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("budget 101 is above the 40 tokens of 'uniform:"));
}

}  // namespace
}  // namespace kv

// Shared libraries behind the C interface: what they tell arrives, and their deaths are findings.
#include <cstdlib>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/plugin_family.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

class Plugin : public testing::Test {
 protected:
  // Compiles a source of the tree; the library.
  std::string built(const std::string& source, const std::string& flags) {
    std::string library = folder_ / "plugin.so";
    const std::string command = "cc -std=c11 -Wall -Wextra -Werror -shared -fPIC " + flags +
                                " -I'" KVCHECK_BINARY_DIR "/include' '" KVCHECK_SOURCE_DIR "/" +
                                source + "' -o '" + library + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return library;
  }

  std::string wrong(const std::string& flags) {
    return built("tests/properties/wrong_plugin.c", flags);
  }

  test::TemporaryFolder folder_;
};

constexpr std::string_view plain = "sinks=1,recent=2,budget=5;stream=random;calls=f3,f9,f1";

TEST_F(Plugin, TellsRowsWithTheirTags) {
  const auto family = make_plugin_family(built("examples/c_plugin/sink_window.c", ""));
  ASSERT_TRUE(family) << family.error().message;
  const Case what = *parse_case(
      "sinks=1,recent=2,budget=5,layers=2,kv-heads=2,sequences=2;stream=random;calls=f3,f9,f1,r,"
      "f2");
  const auto history = run_case(**family, what);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->failure, "");
  ASSERT_EQ(history->events.size(), 5U);
  for (std::size_t unit = 0; unit < 8; ++unit) {
    const UnitFacts& facts = history->events[2].facts.units[unit];
    ASSERT_EQ(facts.stored.size(), 5U);
    for (std::size_t row = 0; row < 5; ++row) {
      const std::int32_t token = row == 0 ? 0 : static_cast<std::int32_t>(8 + row);
      EXPECT_EQ(facts.stored[row].value, (Token{token, 0}));
      EXPECT_EQ(facts.stored[row].key, (Token{token, 0}));
      EXPECT_EQ(facts.stored[row].key_place, history->place_of(unit));
      EXPECT_EQ(facts.stored[row].position, token);
      EXPECT_LT(facts.stored[row].key_error, 1e-6);
    }
  }
}

TEST_F(Plugin, RefusesAndDraws) {
  const auto family = make_plugin_family(wrong(""));
  ASSERT_TRUE(family) << family.error().message;
  EXPECT_FALSE((*family)->contract({.layers = 2}));
  EXPECT_TRUE((*family)->uses_draws());
  const Case what =
      *parse_case("sinks=0,recent=2,budget=5,seed=4;stream=random;calls=f3,k,t-1,t2,f2v1,f0");
  for (const bool asked : {false, true}) {
    const auto history =
        asked ? run_case(**family, what, counter_draws(4)) : run_case(**family, what);
    ASSERT_EQ(history->failure, "");
    ASSERT_EQ(history->events.size(), 6U);
    EXPECT_TRUE(history->events[1].refused);
    EXPECT_EQ(history->events[2].why, "because");
    EXPECT_EQ(history->events[4].facts.units[0].stored[2].value, (Token{2, 1}));
    EXPECT_EQ(history->events[4].facts.units[0].moved, Rng(4, 0).below(1000, 2, 3));
  }
}

TEST_F(Plugin, ACrashNamesItsSignal) {
  const auto family = make_plugin_family(wrong("-DCRASH"));
  ASSERT_TRUE(family);
  const auto history = run_case(**family, *parse_case(plain));
  EXPECT_THAT(history->failure, HasSubstr("was killed by signal 11"));
  EXPECT_TRUE(history->died);
}

TEST_F(Plugin, AHangEndsInTime) {
  const auto family = make_plugin_family(wrong("-DHANG"), {.seconds = 0.3});
  ASSERT_TRUE(family);
  const auto history = run_case(**family, *parse_case(plain));
  EXPECT_THAT(history->failure, HasSubstr("gave no answer within 0.3 s"));
}

TEST_F(Plugin, AFailureIsReported) {
  const auto family = make_plugin_family(wrong("-DFAIL"));
  ASSERT_TRUE(family);
  EXPECT_THAT(run_case(**family, *parse_case(plain))->failure, HasSubstr("answered 2: because"));
}

TEST_F(Plugin, WhatIsNoPluginIsAnError) {
  EXPECT_THAT(make_plugin_family(wrong("-DOTHER_VERSION")).error().message,
              HasSubstr("speaks version 99 of the interface; expected 1"));
  EXPECT_THAT(make_plugin_family(wrong("-DNO_FEED -Wno-unused-function")).error().message,
              HasSubstr("kvp_plugin.feed is null"));
  EXPECT_THAT(make_plugin_family(wrong("-DMISSPELT")).error().message,
              HasSubstr("contract: unknown field 'randm'; did you mean 'random'?"));
  EXPECT_THAT(make_plugin_family("/no/such/file.so").error().message,
              HasSubstr("cannot load the plugin"));
}

// Rows of 64 numbers of 16 bits, of one size for keys and values.
TEST_F(Plugin, ATensorCacheInHalfPrecisionIsReadWithoutPadding) {
  const std::string right = built("examples/tensors/sink_rows.c", "");
  const auto holds = test::run({"check", "--plugin", right, "--no-strict"});
  EXPECT_EQ(holds.status, 0) << holds.out << holds.err;
  for (const auto& [flag, law] :
       {std::pair{"-DVALUES_BEHIND", "row.pairing"}, std::pair{"-DONE_HEAD", "row.place"}}) {
    const std::string wrong = built("examples/tensors/sink_rows.c", flag);
    const auto found = test::run({"check", "--plugin", wrong, "--filter", law});
    EXPECT_EQ(found.status, 1) << flag << found.out << found.err;
  }
}

TEST_F(Plugin, FieldsBehindTheSizeOfAnOlderHeaderAreNotRead) {
  const auto family = make_plugin_family(wrong("-DOLDER_HEADER"));
  EXPECT_TRUE(family) << family.error().message;
}

TEST_F(Plugin, WrongSizesAndTypesOfRowsAreASentence) {
  EXPECT_THAT(make_plugin_family(wrong("-DHEAD_DIM=15 -DDTYPE=KVP_F32")).error().message,
              HasSubstr("head_dim is 15; expected an even number of at least 16"));
  EXPECT_THAT(make_plugin_family(wrong("-DHEAD_DIM=64 -DDTYPE=7")).error().message,
              HasSubstr("dtype is 7; expected KVP_F32 (0), KVP_F16 (1) or KVP_BF16 (2)"));
  EXPECT_THAT(make_plugin_family(wrong("-DHEAD_DIM=0 -DDTYPE=KVP_F16")).error().message,
              HasSubstr("head_dim is 0"));
}

TEST_F(Plugin, CheckTakesOne) {
  const std::string library = built("examples/c_plugin/sink_window.c", "-DBROKEN");
  const auto ran =
      test::run({"check", "--plugin", library, "--filter", "rows.*", "--filter", "row.*"});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
}

}  // namespace
}  // namespace kv::properties

#include "kvcheck/base/text/text.h"

#include "kvcheck/base/text/nearest_words.h"

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::array<std::string_view, 5> policies = {"dense", "window", "streaming", "random",
                                                  "reservoir"};

TEST(Split, AnEmptyTextHasOneEmptyPiece) {
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
}

TEST(Split, JoiningThePiecesGivesTheTextBack) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', ','));
    std::vector<std::string> pieces;
    for (const std::string_view piece : split(text, ',')) pieces.emplace_back(piece);
    RC_ASSERT(join(pieces, ",") == text);
  }));
}

TEST(Nearest, FindsOneEdit) {
  EXPECT_EQ(nearest("windw", policies), "window");    // deleted
  EXPECT_EQ(nearest("windoww", policies), "window");  // inserted
  EXPECT_EQ(nearest("wimdow", policies), "window");   // replaced
  EXPECT_EQ(nearest("widnow", policies), "window");   // swapped
  EXPECT_EQ(nearest("stremaing", policies), "streaming");
}

TEST(Nearest, CountsASwapOfNeighboursAsOneEdit) {
  const std::array<std::string_view, 2> candidates = {"xbcd", "bacd"};
  EXPECT_EQ(nearest("abcd", candidates), "xbcd") << "the first of two equally near";
  const std::array<std::string_view, 2> swapped = {"xycd", "bacd"};
  EXPECT_EQ(nearest("abcd", swapped), "bacd");
}

TEST(Nearest, TakesAPrefixOfThreeLetters) {
  EXPECT_EQ(nearest("res", policies), "reservoir");
  EXPECT_EQ(nearest("re", policies), "");
  EXPECT_EQ(nearest("strm", policies), "streaming");
  EXPECT_EQ(nearest("WINDOW", policies), "window");
}

TEST(Nearest, SaysNothingAboutWordsFarFromAll) {
  EXPECT_EQ(nearest("quantum", policies), "");
  EXPECT_EQ(nearest("", policies), "");
  EXPECT_EQ(nearest(std::string(1000, 'w'), policies), "");
  EXPECT_EQ(nearest("window", {}), "");
}

TEST(UnknownWord, NamesTheNearestOrElseAll) {
  EXPECT_EQ(unknown_word("policy", "windw", policies),
            "unknown policy 'windw'; did you mean 'window'?");
  EXPECT_EQ(unknown_word("policy", "quantum", policies),
            "unknown policy 'quantum' (there are dense, window, streaming, random, reservoir)");
  EXPECT_EQ(unknown_word("policy", "quantum", policies, "@quantum"),
            "unknown policy 'quantum'; did you mean '@quantum'?");
  EXPECT_EQ(unknown_word("policy", "zzz", std::span(policies).first(1)),
            "unknown policy 'zzz' (there is dense)");
}

TEST(UnknownWord, KeepsHostileWordsShortAndPrintable) {
  const std::string message = unknown_word("policy", "a\n\x1b[31m" + std::string(500, 'x'), {});
  EXPECT_LT(message.size(), 100U);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(ParseCount, TakesWholeNumbersInRange) {
  EXPECT_EQ(*parse_count("7", "budget", 1, 9), 7U);
  EXPECT_EQ(*parse_count("1", "budget", 1, 9), 1U);
  EXPECT_EQ(*parse_count("9", "budget", 1, 9), 9U);
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(*parse_count("18446744073709551615", "seed", 0, most), most);
}

TEST(ParseCount, RefusesEverythingElseInOneSentence) {
  for (const char* text : {"", " 7", "7 ", "+7", "-7", "7.0", "0x7", "7e0", "0", "10", "seven",
                           "18446744073709551616", "99999999999999999999999"}) {
    const auto count = parse_count(text, "budget", 1, 9);
    ASSERT_FALSE(count) << text;
    EXPECT_EQ(count.error().kind, Error::Kind::usage);
    EXPECT_EQ(count.error().message,
              "budget is '" + std::string(text) + "'; expected a whole number from 1 to 9");
  }
  EXPECT_FALSE(parse_count("18446744073709551616", "seed", 0, ~std::uint64_t{0}));
}

TEST(ParseReal, TakesFiniteNumbersInRange) {
  EXPECT_EQ(*parse_real("0.5", "share", 0, 1), 0.5);
  EXPECT_EQ(*parse_real("1e-3", "share", 0, 1), 1e-3);
  EXPECT_EQ(*parse_real("-0", "share", 0, 1), 0.0);
}

TEST(ParseReal, RefusesNanInfinityAndWhatIsOutOfRange) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1.5x", " 1", "+1", "0x1p3", ","}) {
    EXPECT_FALSE(parse_real(text, "share", -1e300, 1e300)) << text;
  }
  EXPECT_FALSE(parse_real("inf", "share", 0, inf)) << "finite is asked for whatever the maximum";
  const auto real = parse_real("1.5", "share", 0, 1);
  ASSERT_FALSE(real);
  EXPECT_EQ(real.error().message, "share is '1.5'; expected a number from 0 to 1");
}

TEST(Shortest, ReadsBackAsTheSameNumber) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e300), "1e+300");
  EXPECT_EQ(shortest(-0.0), "-0");
  constexpr double most = std::numeric_limits<double>::max();
  const Rng rng(1);
  for (Position i = 0; i < 20000; ++i) {
    const std::uint64_t bits = rng.bits(i);
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    const auto back = parse_real(shortest(value), "x", -most, most);
    ASSERT_TRUE(back.has_value()) << value;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*back), bits) << value;
  }
}

TEST(Shown, HasNoDigitsThatSinglePrecisionDoesNotHave) {
  EXPECT_EQ(shown(1.007F), "1.007");
  EXPECT_EQ(shown(std::nanf("")), "nan");
  EXPECT_EQ(shown(-std::numeric_limits<float>::infinity()), "-inf");
}

TEST(Shortest, HasNoWordForNanAndInfinities) {
  EXPECT_EQ(shortest(std::nan("")), "null");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "null");
}

TEST(Words, AmongManyNamesTheNearestOnly) {
  const std::vector<std::string_view> laws = {"size.stored",    "size.full",    "visible.sinks",
                                              "resident.sinks", "chance.exact", "survives"};
  EXPECT_EQ(unknown_among_many("law", "survivs", laws, "see there"),
            "unknown law 'survivs'; did you mean 'survives'?");
  EXPECT_EQ(unknown_among_many("law", "sink", laws, "see there"),
            "unknown law 'sink'; nearest are 'visible.sinks', 'resident.sinks', 'size.stored'; see "
            "there");
  const std::string far = unknown_among_many("law", "nosuch", laws, "see there");
  EXPECT_LT(far.size(), 120U) << far;
  EXPECT_TRUE(far.ends_with("; see there"));
  EXPECT_EQ(nearest_words("stored*", laws, 1), std::vector<std::string_view>{"size.stored"});
}

}  // namespace
}  // namespace kv

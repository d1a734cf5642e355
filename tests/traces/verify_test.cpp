#include "kvcheck/traces/verify.h"

#include <cmath>
#include <limits>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;
using test::attention_trace;

// Two heads, three tokens, all right.
const std::vector<float> good{1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F,
                              1, 0, 0, 0,    1,    0, 0,     0,     1};

std::string refusal(std::size_t at, float value) {
  std::vector<float> rows = good;
  rows[at] = value;
  const Trace trace = attention_trace(2, 3, rows);
  const auto report = verify(trace);
  return report ? "good" : report.error().message;
}

TEST(Verify, CountsWhatItLooksAt) {
  const Trace trace = attention_trace(2, 3, good);
  const VerifyResult report = verify(trace).value();
  EXPECT_EQ(report.numbers, 18U);
  EXPECT_EQ(report.rows, 6U);
  EXPECT_EQ(report.worst_row, 0);
  EXPECT_EQ(report.largest, 1);
}

TEST(Verify, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(refusal(0, 1), "good");
  EXPECT_EQ(refusal(10, std::numeric_limits<float>::quiet_NaN()),
            "'made': layer 3, head 1, query 0, key 1: found nan; expected a finite number");
  EXPECT_EQ(refusal(3, -std::numeric_limits<float>::infinity()),
            "'made': layer 3, head 0, query 1, key 0: found -inf; expected a finite number");
  EXPECT_EQ(refusal(7, -0.25F),
            "'made': layer 3, head 0, query 2, key 1: found -0.25; expected at least 0");
  EXPECT_EQ(refusal(2, 1e-7F),
            "'made': layer 3, head 0, query 0, key 2: found 1e-07; expected 0, "
            "because that key comes after the query");
  EXPECT_THAT(refusal(8, 0.25F),
              HasSubstr("layer 3, head 0, query 2: the weights sum to 0.75; expected 1 within"));
}

TEST(Verify, LooksAboveTheDiagonalOfEveryRow) {
  EXPECT_THAT(refusal(5, 0.25F), HasSubstr("query 1, key 2: found 0.25; expected 0"));
  EXPECT_EQ(refusal(2, -0.0F), "good");
}

TEST(Verify, RefusesNumbersThatAreNotFiniteInQueriesKeysAndValues) {
  for (const std::size_t byte : {0UL, 100UL, 188UL}) {
    std::string bytes = test::SmallQkv().bytes();
    bytes.replace(bytes.size() - 204 + byte, 4, std::string("\0\0\x80\x7f", 4));
    const Trace trace = open_trace(test::temporary_file("inf", bytes)).value();
    const auto report = verify(trace);
    ASSERT_FALSE(report);
    const std::string place = byte == 0     ? "layer 7, q, head 0, token 0, dimension 0"
                              : byte == 100 ? "layer 7, k, head 0, token 0, dimension 1"
                                            : "layer 7, v, head 0, token 2, dimension 3";
    EXPECT_THAT(report.error().message, HasSubstr(place + ": found inf"));
  }
}

TEST(Verify, RefusesNegativeTokenIds) {
  std::string bytes = test::SmallQkv().bytes();
  bytes.replace(bytes.size() - 4, 4, std::string(4, '\xff'));
  const Trace trace = open_trace(test::temporary_file("ids", bytes)).value();
  const auto report = verify(trace);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("token 2: the id is -1; expected at least 0"));
}

// The sum of n copies of 1/n once they are stored, which is the worst that rounding does to even
// rows; `store` gives back what is read.
template <typename Store>
double even_sum(std::size_t n, const Store& store) {
  return static_cast<double>(n) * double{store(1.0F / static_cast<float>(n))};
}

TEST(RowTolerance, CoversRoundingOfEvenRowsAtEveryLength) {
  for (std::size_t n = 1; n <= 20000; ++n) {
    const double half = even_sum(n, [](float p) { return f16_to_f32(f32_to_f16(p)); });
    ASSERT_LE(std::abs(half - 1), row_tolerance(Number::f16, n)) << n;
    const double brain = even_sum(n, [](float p) { return bf16_to_f32(f32_to_bf16(p)); });
    ASSERT_LE(std::abs(brain - 1), row_tolerance(Number::bf16, n)) << n;
    ASSERT_LE(std::abs(even_sum(n, [](float p) { return p; }) - 1), row_tolerance(Number::f32, n));
  }
}

TEST(RowTolerance, IsNotMuchWiderThanRoundingNeeds) {
  double half = 0;
  double brain = 0;
  for (std::size_t n = 1; n <= 512; ++n) {
    half = std::max(half,
                    std::abs(even_sum(n, [](float p) { return f16_to_f32(f32_to_f16(p)); }) - 1));
    brain = std::max(
        brain, std::abs(even_sum(n, [](float p) { return bf16_to_f32(f32_to_bf16(p)); }) - 1));
  }
  EXPECT_LT(row_tolerance(Number::f16, 512), 1.5 * half);
  EXPECT_LT(row_tolerance(Number::bf16, 512), 1.5 * brain);
  EXPECT_LT(row_tolerance(Number::f32, 512), 1e-4);
}

}  // namespace
}  // namespace kv

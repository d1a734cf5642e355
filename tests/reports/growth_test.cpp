#include "kvcheck/reports/hypotheses/growth.h"

#include <cmath>

#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

TimedCell timed(const std::string& spec, std::size_t length, double seconds, std::size_t run) {
  return {.cell = {.spec = parse_spec(spec).value(), .seed = 1},
          .length = length,
          .attention_s = seconds,
          .kv_bytes = length * 64,
          .repetition = run};
}

// The attention of dense grows as the length to the power of 1.5, that of a window as its budget.
StoredRun timings() {
  TimingResult result{
      .model = "m", .weights = "as-is", .storage = "f32", .tokens = 4, .threads = 1};
  for (std::size_t run = 1; run <= 6; ++run) {
    const double load = 1 + 0.1 * static_cast<double>(run);
    for (const std::size_t length : {64U, 256U, 1024U}) {
      const double seconds = load * 1e-6 * std::pow(static_cast<double>(length), 1.5);
      result.cells.push_back(timed("dense", length, seconds, run));
    }
    for (const std::size_t budget : {16U, 32U, 64U}) {
      const std::string spec = "window:budget=" + std::to_string(budget);
      result.cells.push_back(timed(spec, 256, load * 1e-6 * static_cast<double>(budget), run));
    }
  }
  StoredRun run;
  run.timings = {result};
  return run;
}

Condition growth(const std::string& of) {
  return {.results = "a.db",
          .quantity = Quantity::growth,
          .measure = "attention_s",
          .of = of,
          .bounds = {.above = 0}};
}

TEST(Growth, IsThePowerOfTheLength) {
  const StoredRun run = timings();
  const auto exponents = growth_exponents(growth("dense"), std::span(&run, 1));
  ASSERT_TRUE(exponents) << exponents.error().message;
  EXPECT_THAT(*exponents, SizeIs(6));
  EXPECT_THAT(*exponents, Each(DoubleNear(1.5, 1e-9)));
  Condition bytes = growth("dense");
  bytes.measure = "kv_bytes";
  EXPECT_THAT(growth_exponents(bytes, std::span(&run, 1)).value(), Each(DoubleNear(1, 1e-9)));
}

TEST(Growth, IsThePowerOfTheBudgetAtOneLength) {
  const StoredRun run = timings();
  Condition condition = growth("window");
  condition.length = 256;
  EXPECT_THAT(growth_exponents(condition, std::span(&run, 1)).value(), Each(DoubleNear(1, 1e-9)));
}

TEST(Growth, NeedsTwoPointsOfOneSpecEach) {
  StoredRun run = timings();
  const auto error_of = [&](const Condition& condition) {
    const auto exponents = growth_exponents(condition, std::span(&run, 1));
    return exponents ? "none" : exponents.error().message;
  };
  EXPECT_THAT(error_of(growth("window")), HasSubstr("expected one spec"));
  EXPECT_THAT(error_of(growth("window:budget=16")), HasSubstr("at one length only"));
  EXPECT_THAT(error_of(growth("tova")), HasSubstr("'tova'"));
  Condition one = growth("window:budget=16");
  one.length = 256;
  EXPECT_THAT(error_of(one), HasSubstr("at one budget only"));
  run.timings[0].cells.pop_back();
  Condition missing = growth("window");
  missing.length = 256;
  EXPECT_THAT(error_of(missing), HasSubstr("6 and 5 runs"));
}

}  // namespace
}  // namespace kv::reports

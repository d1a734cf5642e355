#include "kvcheck/base/error.h"

#include "kvcheck/base/check.h"

namespace kv {
namespace {

TEST(Error, BuildersGiveTheirKind) {
  EXPECT_EQ(malformed("m"), (Error{Error::Kind::malformed, "m"}));
  EXPECT_EQ(usage_error("m"), (Error{Error::Kind::usage, "m"}));
  EXPECT_EQ(io_error("m"), (Error{Error::Kind::io, "m"}));
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 3;
  const Result<int> error = malformed("m");
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "m");
}

TEST(ResultDeathTest, AskingAnErrorForItsValueIsABugThatStopsTheProgram) {
  const Result<int> error = malformed("the reason");
  EXPECT_DEATH(static_cast<void>(error.value()), "the reason");
}

TEST(CheckDeathTest, NamesTheConditionAndThePlace) {
  const int budget = 0;
  EXPECT_DEATH(KV_CHECK(budget > 0), "budget > 0 does not hold \\(.*error_test.cpp:[0-9]+\\)");
}

TEST(Check, EvaluatesItsConditionOnce) {
  int count = 0;
  KV_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace kv

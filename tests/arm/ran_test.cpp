// The check of what ./dev test arm ran, which has tests in Python.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

TEST(ArmTests, NameAFileThatTheyLeaveOut) {
  const test::Ran ran =
      test::run_shell("python3 -B '" KVCHECK_SOURCE_DIR "/tests/arm/test_ran.py' 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, ::testing::HasSubstr("Ran 3 tests"));
}

}  // namespace
}  // namespace kv

// The script of ./dev test fp16, which has tests in Python.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

TEST(Fp16Script, NamesWhatFailsAndWhatIsMissing) {
  const test::Ran ran =
      test::run_shell("python3 -B '" KVCHECK_SOURCE_DIR "/tests/fp16/test_run.py' 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, ::testing::HasSubstr("Ran 7 tests"));
}

}  // namespace
}  // namespace kv

// What commands write for other programs is what its schemas say: tests in Python.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using namespace testing;

TEST(Outputs, AreWhatTheirSchemasSay) {
  const std::string script = "'" KVCHECK_SOURCE_DIR "/tests/outputs/test_outputs.py' $K 2>&1";
  for (const std::string python3 : {"python3", "/usr/bin/python3"}) {
    // Older releases of jsonschema do not know the draft.
    const std::string has = " -c 'import jsonschema; jsonschema.Draft202012Validator'";
    if (test::run_shell("command -v xmllint && " + python3 + has).status != 0) continue;
    const test::Ran ran = test::run_shell(python3 + " -B " + script);
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Ran 9 tests"), Not(HasSubstr("skipped"))));
    return;
  }
  GTEST_SKIP() << "no jsonschema or xmllint here (Debian: python3-jsonschema, libxml2-utils)";
}

}  // namespace
}  // namespace kv

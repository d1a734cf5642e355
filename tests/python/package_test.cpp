// The Python package: its own tests, which are Python, and the ways to have it.
#include <filesystem>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using namespace testing;
using test::Ran;
using test::run_shell;

class PythonPackage : public Test {
 protected:
  void SetUp() override {
    if (std::string(KVCHECK_PYTHON).empty()) {
      GTEST_SKIP() << "this build has no Python module (cmake -DKVCHECK_PYTHON=ON)";
    }
  }

  // Runs the interpreter with the package of the build.
  static Ran python(const std::string& words) {
    return run_shell("KVCHECK_SOURCE='" KVCHECK_SOURCE_DIR "' KVCHECK_PROGRAM='" KVCHECK_PROGRAM
                     "' PYTHONPATH='" KVCHECK_BINARY_DIR "/python:" KVCHECK_SOURCE_DIR
                     "/tests/python' '" KVCHECK_PYTHON "' -B " +
                     words + " 2>&1");
  }

  static void expect_passes(const std::string& tests) {
    const Ran ran = python("'" KVCHECK_SOURCE_DIR "/tests/python/" + tests + "'");
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Ran "), Not(HasSubstr("Ran 0"))));
  }
};

TEST_F(PythonPackage, Traces) {
  expect_passes("test_traces.py");
}

TEST_F(PythonPackage, Records) {
  expect_passes("test_record.py");
}

TEST_F(PythonPackage, Replays) {
  expect_passes("test_replays.py");
}

TEST_F(PythonPackage, Policies) {
  expect_passes("test_policies.py");
}

TEST_F(PythonPackage, Arguments) {
  expect_passes("test_arguments.py");
}

TEST_F(PythonPackage, Pickles) {
  expect_passes("test_pickles.py");
}

TEST_F(PythonPackage, Programs) {
  expect_passes("test_programs.py");
}

TEST_F(PythonPackage, Tensors) {
  expect_passes("test_tensors.py");
}

TEST_F(PythonPackage, Adapters) {
  expect_passes("test_adapters.py");
}

TEST_F(PythonPackage, TutorialEndsInAFigure) {
  const test::TemporaryFolder folder;
  const Ran ran =
      python("'" KVCHECK_SOURCE_DIR "/examples/python/tutorial.py' '" + (folder / "") + "'");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("LargestMass holds what it claims"));
  EXPECT_THAT(test::read_text(folder / "tutorial.svg"), HasSubstr("largest-mass"));
}

TEST_F(PythonPackage, TutorialSaysWhatItNeedsElsewhere) {
  const test::TemporaryFolder folder;
  const std::string copy = folder / "tutorial.py";
  std::filesystem::copy_file(KVCHECK_SOURCE_DIR "/examples/python/tutorial.py", copy);
  const Ran ran = python("'" + copy + "' '" + (folder / "") + "'");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("tinystories-2m.qkv.safetensors' is not there; run this file "
                              "in kvcheck's sources, or name a trace with words"),
                    Not(HasSubstr("Traceback"))));
}

TEST_F(PythonPackage, ServesCachesWithoutTheModule) {
  // The sources alone: examples/python needs no more.
  const Ran ran = run_shell("cd '" KVCHECK_SOURCE_DIR "' && PYTHONPATH=python '" KVCHECK_PYTHON
                            "' -B -c 'import kvcheck; kvcheck.serve; kvcheck.replay' 2>&1");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("kvcheck.replay needs the compiled module, which is not here; "
                                 "build it with pip install ."));
}

TEST_F(PythonPackage, SaysThatNumPyIsMissing) {
  const Ran ran =
      python("-c 'import sys; sys.modules[\"numpy\"] = None; import kvcheck; kvcheck.replay'");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("ImportError: kvcheck.replay needs NumPy, which is not here"),
                    Not(HasSubstr("During handling"))));
}

TEST_F(PythonPackage, InstallsInAnEnvironment) {
  if (run_shell("'" KVCHECK_PYTHON "' -c 'import ensurepip, numpy'").status != 0) {
    GTEST_SKIP() << "Python cannot make environments here (Debian: python3-venv)";
  }
  const test::TemporaryFolder temporary;
  const std::string folder = temporary / "environment";
  const Ran made = run_shell(
      "'" KVCHECK_PYTHON "' -m venv --system-site-packages '" + folder + "' && '" + folder +
      "/bin/pip' install --no-index --quiet --config-settings=build='" KVCHECK_BINARY_DIR
      "' '" KVCHECK_SOURCE_DIR "' 2>&1");
  ASSERT_EQ(made.status, 0) << made.out;
  const std::string cells =
      " replay synthetic:zipf:tokens=90 --policy h2o --budget 16 --quiet --json -";
  const std::string expected = run_shell(KVCHECK_PROGRAM + cells).out;
  EXPECT_THAT(expected, HasSubstr("retained_mass"));
  EXPECT_EQ(run_shell("cd / && '" + folder + "/bin/kvcheck'" + cells).out, expected);
  EXPECT_EQ(run_shell("cd / && '" + folder + "/bin/python' -m kvcheck" + cells).out, expected);
}

}  // namespace
}  // namespace kv

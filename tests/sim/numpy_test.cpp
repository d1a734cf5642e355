// Replay against tests/sim/replay_reference.py, an independent NumPy implementation.
#include <cstdlib>
#include <filesystem>

#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

const std::filesystem::path source_dir = KVCHECK_SOURCE_DIR;
const std::filesystem::path program = KVCHECK_PROGRAM;

int run(const std::string& command) {
  return std::system(command.c_str());
}

// A Python with NumPy, or nothing.
std::string find_python() {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (run(std::string(candidate) + " -c 'import numpy' >/dev/null 2>&1") == 0) return candidate;
  }
  return {};
}

void compare(const std::string& trace) {
  const std::string python = find_python();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  // A file for each trace: the tests run in several processes at once.
  const std::string results = testing::TempDir() + "kvcheck_numpy_test." +
                              std::filesystem::path(trace).stem().string() + ".jsonl";
  const std::string replay =
      program.string() + " replay " + trace +
      " --policy streaming:sinks=4,recent=60 --policy window:recent=64"
      " --policy reservoir:sinks=4,recent=28,budget=64 --policy h2o:sinks=4,recent=28,budget=64"
      " --policy h2o:recent=0,budget=48 --policy tova:budget=64 --seed 11 --per-head --quiet"
      " --json " +
      results + " > /dev/null";
  ASSERT_EQ(run(replay), 0) << replay;
  const std::string script = (source_dir / "tests/sim/replay_reference.py").string();
  EXPECT_EQ(run(python + " " + script + " " + trace + " " + results), 0);
  std::filesystem::remove(results);
}

TEST(NumPy, AgreesOnTheBundledTraceWithin1e5) {
  compare((source_dir / "traces/data/tinystories-2m.qkv.safetensors").string());
}

TEST(NumPy, AgreesOnATraceWithGroupedQueriesWithin1e5) {
  const auto trace = source_dir / "../shared/data/recorded/stories260k.qkv.safetensors";
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << "no ../shared/data beside the sources";
  compare(trace.string());
}

}  // namespace
}  // namespace kv

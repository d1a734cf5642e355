// Replay against tests/sim/replay_reference.py, an independent NumPy implementation.
#include <cstdlib>
#include <filesystem>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

const std::filesystem::path source_dir = KVCHECK_SOURCE_DIR;
const std::filesystem::path program = KVCHECK_PROGRAM;

int run(const std::string& command) {
  return std::system(command.c_str());
}

// A file for each comparison: the tests run in several processes at once.
std::string results_path(const std::string& name) {
  return testing::TempDir() + "kvcheck_numpy_test." + name;
}

void compare(const std::string& trace) {
  const std::string python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string results = results_path(std::filesystem::path(trace).stem().string() + ".jsonl");
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

// Rows whose sums are exact: the mass over all queries and once evicting, to 1e-9.
TEST(NumPy, AgreesOnExactRowsWithin1e9) {
  const std::string python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string rows = results_path("rows.npy");
  const std::string lines = results_path("rows.jsonl");
  const std::string script = python + " " + (source_dir / "tests/sim/exact_rows.py").string();
  ASSERT_EQ(run(script + " make " + rows), 0);
  const std::string replay =
      program.string() + " replay " + rows +
      " --policy streaming:sinks=4,recent=60 --policy window:recent=50"
      " --policy reservoir:sinks=4,recent=8,budget=64 --seed 11 --per-head --quiet --json " +
      lines + " > /dev/null";
  ASSERT_EQ(run(replay), 0) << replay;
  EXPECT_EQ(run(script + " compare " + rows + " " + lines), 0);
  std::filesystem::remove(rows);
  std::filesystem::remove(lines);
}

// A prompt of 200 tokens and a question of 20: which tokens each unit evicts and when, and the mass
// that is retained, once the cache grows, is held, or is trimmed every 16 tokens.
TEST(NumPy, AgreesOnWhatACompressedPromptKeeps) {
  const std::string python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string trace = (source_dir / "traces/data/tinystories-2m.qkv.safetensors").string();
  const std::string lines = results_path("phases.jsonl");
  const std::string stored = results_path("phases.db");
  std::filesystem::remove(stored);
  const std::string replay =
      program.string() + " replay " + trace +
      " --prompt 200 --question 20 --policy 'h2o:ratio=0.25;compress=prompt'"
      " --policy 'h2o:sinks=4,ratio=0.3;compress=question+hold'"
      " --policy 'h2o:recent=10,budget=48;compress=prompt+every:16'"
      " --policy 'tova:budget=64;compress=question' --policy 'streaming:ratio=0.4;compress=prompt'"
      " --policy 'h2o:budget=64;compress=never' --policy '@snapkv-prompt:ratio=0.25;unit=kv-head'"
      " --per-head --quiet --json " +
      lines + " -o " + stored + " > /dev/null";
  ASSERT_EQ(run(replay), 0) << replay;
  const std::string script = (source_dir / "tests/sim/replay_reference.py").string();
  EXPECT_EQ(run(python + " " + script + " " + trace + " " + lines + " " + stored + " 200 20"), 0);
  std::filesystem::remove(lines);
  std::filesystem::remove(stored);
}

// A sample of a quarter of the queries: estimates and the widths of their intervals.
TEST(NumPy, AgreesOnWhatASampleOfQueriesSays) {
  const std::string python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string whole = (source_dir / "traces/data/tinystories-2m.qkv.safetensors").string();
  const std::string sample = results_path("sample.safetensors");
  const std::string lines = results_path("sample.jsonl");
  ASSERT_EQ(run(program.string() + " trace slice " + whole + " -o " + sample +
                " --queries 16/64 --seed 5 > /dev/null"),
            0);
  ASSERT_EQ(run(program.string() + " replay " + sample +
                " --policy streaming:sinks=4,recent=60 --policy window:recent=64"
                " --policy streaming:sinks=2,recent=30 --quiet --json " +
                lines + " > /dev/null"),
            0);
  const std::string script = (source_dir / "tests/sim/sampled_reference.py").string();
  EXPECT_EQ(run(python + " " + script + " " + sample + " " + lines), 0);
  std::filesystem::remove(sample);
  std::filesystem::remove(lines);
}

// Which tokens keydiff, lagkv, rkv, q-filters and expected-attention evict, and when, beside
// emulations of their public code: with budgets that hold, in blocks, and with prompts that are
// compressed once.
TEST(NumPy, EmulationsOfPublishedPoliciesEvictTheSameTokens) {
  const std::string python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string trace = (source_dir / "traces/data/tinystories-2m.qkv.safetensors").string();
  const std::string script = (source_dir / "tests/sim/published_policies.py").string();
  const std::string stored = results_path("published.db");
  const std::string all_the_time =
      " --policy keydiff:recent=0,budget=64 --policy 'keydiff:recent=0,budget=96;chunk=32'"
      " --policy rkv:recent=8,budget=64,importance=middle,lone=first --policy @rkv-hold:budget=96"
      " --policy q-filters:recent=16,budget=64";
  const std::string once =
      " --policy @keydiff-prompt --policy @lagkv-prompt --policy @lagkv-prompt:ratio=0.75"
      " --policy @rkv-prompt --policy @rkv-prompt:budget=64"
      " --policy '@expected-attention-prompt;budgets=equal' --policy @expected-attention-prompt";
  for (const std::string prompt : {"128", "300", "421", "480"}) {
    std::filesystem::remove(stored);
    const std::string replay = program.string() + " replay " + trace + " --prompt " + prompt +
                               once + (prompt == "128" ? all_the_time : "") + " --quiet -o " +
                               stored + " > /dev/null";
    ASSERT_EQ(run(replay), 0) << replay;
    const std::string units = prompt == "128" ? "288" : "168";  // 24 of each policy
    EXPECT_EQ(run(python + " " + script + " " + trace + " " + stored + " " + prompt + " " + units),
              0)
        << prompt;
  }
  std::filesystem::remove(stored);
}

}  // namespace
}  // namespace kv

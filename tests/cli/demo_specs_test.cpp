// The specs with which ./dev demo and ./dev comparison compare all policies and presets.
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

// Runs a line of bash with `specs`, the words that ./dev passes on, in the root of the sources.
test::Ran with_specs(const std::string& line) {
  return test::run_shell(R"sh(cd ')sh" KVCHECK_SOURCE_DIR R"sh(' && export K && bash -c '
    eval "$(sed -n "/^comparison_specs() {/,/^}/p" dev)"
    mapfile -t specs < <(comparison_specs "$K")
    )sh" + line + "'");
}

TEST(DemoSpecs, AreReplayedWithoutMarks) {
  const test::Ran ran =
      with_specs("$K replay traces/data/tinystories-2m.qkv.safetensors \"${specs[@]}\" --quiet");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err.find("expected --prompt"), std::string::npos);
}

TEST(DemoSpecs, NameEveryPolicyAndMostPresets) {
  const test::Ran ran = with_specs("printf \"%s\\n\" \"${specs[@]}\"");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const test::Ran known = test::run({"policies", "--brief"});
  for (const std::string_view line : split(known.out, '\n')) {
    const std::string name(line.substr(0, line.find(' ')));
    if (name.empty() || name.starts_with('@')) continue;
    if (name == "kvzip") continue;  // compresses prompts only
    EXPECT_NE(("\n" + ran.out).find("\n" + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace kv

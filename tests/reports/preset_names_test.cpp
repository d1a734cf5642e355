#include "kvcheck/reports/numbers/preset_names.h"

#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> names(const std::vector<std::string>& words) {
  std::vector<Spec> specs;
  for (const std::string& one : words) specs.push_back(parse_spec(one).value());
  return names_of(specs);
}

TEST(PresetNames, APresetOfAPromptKeepsItsNameAtItsShareAndAtOthers) {
  EXPECT_THAT(names({"@keydiff-prompt"}), ElementsAre("@keydiff-prompt"));
  EXPECT_THAT(names({"@keydiff-prompt:ratio=0.25"}), ElementsAre("@keydiff-prompt"));
}

TEST(PresetNames, AnotherMomentOfCompressionIsAnotherSystem) {
  EXPECT_THAT(names({"streaming:sinks=1,ratio=0.5;positions=in-cache;compress=prompt"}),
              ElementsAre(StartsWith("streaming:")));
  EXPECT_THAT(names({"streaming:sinks=1,budget=64;positions=in-cache"}),
              ElementsAre("@streaming-llm"));
}

TEST(PresetNames, TheOneWithThePublishedSizesKeepsTheNameBesideAnother) {
  const auto both =
      names({"snapkv:recent=16,ratio=0.25;unit=head;compress=question", "@snapkv-prompt"});
  EXPECT_THAT(both, ElementsAre(StartsWith("snapkv:"), "@snapkv-prompt"));
  EXPECT_THAT(names({"@snapkv-prompt", "snapkv:recent=16,ratio=0.25;unit=head;compress=question"}),
              ElementsAre("@snapkv-prompt", Not("@snapkv-prompt")));
}

}  // namespace
}  // namespace kv::reports

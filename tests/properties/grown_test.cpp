#include "kvcheck/properties/battery/grown.h"

#include <algorithm>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/tagged/tagged_family.h"

namespace kv::properties {
namespace {

std::unique_ptr<Family> mutant_named(std::string_view name) {
  return std::ranges::find(mutants(), name, &Mutant::name)->make();
}

// Trims only once `slack` rows are over the budget, and does not say so.
std::unique_ptr<Family> undeclared_lazy(std::uint32_t slack) {
  return std::make_unique<TaggedFamily<TaggedCache>>(
      "undeclared",
      TaggedOptions{.timing = Timing::lazy, .slack = slack, .visibility = Visibility::causal},
      [](Contract& contract) {
        contract.timing = Timing::attend_then_trim;
        contract.slack = 0;
        contract.reference.clear();
      });
}

constexpr std::string_view lazy_32 = "timing=lazy:32 and visibility=causal";

Case short_case() {
  return *parse_case("sinks=1,recent=2,budget=4;stream=ties;calls=f6,f1,f1");
}

TEST(Grown, ASlackThatIsEnoughHolds) {
  EXPECT_TRUE(holds_when_grown(*undeclared_lazy(20), short_case(), lazy_32));
  EXPECT_FALSE(holds_when_grown(*undeclared_lazy(33), short_case(), lazy_32));
}

TEST(Grown, NoSlackIsEnoughForACacheThatNeverEvicts) {
  const auto family = mutant_named("compresses-at-prefill-only");
  const std::string lazy = "timing=lazy:128 and visibility=causal";
  EXPECT_FALSE(holds_when_grown(*family, short_case(), lazy));
  EXPECT_FALSE(holds_when_grown(*family, short_case(), "no such declaration"));
}

std::string legal_if(Family& family, const std::string& law) {
  BatteryOptions options;
  options.cases = 60;
  options.filter = {law};
  const auto report = run_battery(family, options);
  EXPECT_TRUE(report && report->laws[0].status == Status::broken) << law;
  return report->laws[0].legal_if;
}

// Compresses a prompt once, and does not say so.
std::unique_ptr<Family> undeclared_compression(Compress compress, std::uint32_t ratio) {
  return std::make_unique<TaggedFamily<TaggedCache>>(
      "undeclared",
      TaggedOptions{
          .policy = "h2o", .visibility = Visibility::causal, .compress = compress, .ratio = ratio},
      [](Contract& contract) {
        contract.compress = Compress::always;
        contract.ratio = 0;
        contract.visibility = Visibility::window;
        contract.reference.clear();
      });
}

TEST(Grown, APromptThatIsCompressedOnceIsOfferedItsDeclaration) {
  for (const auto& [compress, ratio, declaration] :
       {std::tuple{Compress::prompt_grow, 0U, "compress=prompt+grow and visibility=causal"},
        std::tuple{Compress::prompt_grow, 500U,
                   "compress=prompt+grow, ratio=0.5 and visibility=causal"},
        std::tuple{Compress::prompt_hold, 250U,
                   "compress=prompt+hold, ratio=0.25 and visibility=causal"}}) {
    EXPECT_EQ(legal_if(*undeclared_compression(compress, ratio), "size.stored"), declaration);
  }
  // A share that is not among those that are tried is not mistaken for its neighbour.
  EXPECT_EQ(legal_if(*undeclared_compression(Compress::prompt_grow, 550), "size.stored"), "");
}

TEST(Grown, IsAskedBeforeADeclarationIsOffered) {
  EXPECT_EQ(legal_if(*undeclared_lazy(20), "size.stored"), lazy_32);
  for (const char* name : {"compresses-at-prefill-only", "never-evicts-reports-the-budget"}) {
    const auto family = mutant_named(name);
    EXPECT_EQ(legal_if(*family, "size.stored").find("lazy"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace kv::properties

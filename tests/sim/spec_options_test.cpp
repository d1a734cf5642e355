// Numbers as options of a policy, through a spec.
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

std::string error_of(std::string_view text) {
  const auto spec = parse_spec(text);
  return spec ? "parsed: " + spec->canonical() : spec.error().message;
}

TEST(SpecOptions, AreWrittenInOneWay) {
  EXPECT_EQ(parse_spec("keyformer:step=0.50").value(), parse_spec("keyformer:step=.5").value());
  EXPECT_THAT(parse_spec("keyformer:step=0.50")->canonical(),
              testing::HasSubstr("noise=gumbel,step=0.5,end=2"));
  EXPECT_THAT(parse_spec("snapkv:window=016")->canonical(),
              testing::HasSubstr("window=16,kernel=7"));
  EXPECT_EQ(parse_spec("snapkv:window=032")->label(), "snapkv");
}

TEST(SpecOptions, NameTheirRange) {
  EXPECT_EQ(error_of("snapkv:window=0"),
            "in spec 'snapkv:window=0': window is '0'; expected a whole number from 1 to 4096");
  EXPECT_EQ(error_of("keyformer:step=-1"),
            "in spec 'keyformer:step=-1': step is '-1'; expected a number from 0 to 10");
}

}  // namespace
}  // namespace kv

// vectors=re-evaluated: where it makes sense.
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

TEST(ReEvaluated, NeedsRanksAndOneListOfResidents) {
  const auto refusal = [](const std::string& words) {
    const auto spec = parse_spec(words + ";vectors=re-evaluated");
    return spec ? "parsed" : spec.error().message;
  };
  EXPECT_EQ(refusal("window;positions=in-cache"), "parsed");
  EXPECT_EQ(refusal("streaming;positions=shifted;chunk=8"), "parsed");
  EXPECT_EQ(refusal("reservoir;positions=in-cache;unit=model"), "parsed");
  EXPECT_EQ(refusal("dense"), "parsed");
  EXPECT_THAT(refusal("window"), testing::HasSubstr("found positions=absolute"));
  EXPECT_THAT(refusal("reservoir;positions=in-cache"),
              testing::HasSubstr("differ from kv-head to kv-head; expected unit=model"));
  EXPECT_THAT(refusal("window;positions=in-cache;visibility=window;chunk=2"),
              testing::HasSubstr("found chunk=2"));
}

}  // namespace
}  // namespace kv

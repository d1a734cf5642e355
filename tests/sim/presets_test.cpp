#include "kvcheck/sim/spec/presets.h"

#include <gtest/gtest.h>

#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

TEST(Presets, ParseAndNameTheirSource) {
  for (const Preset& preset : presets()) {
    const auto spec = parse_spec(preset.spec);
    ASSERT_TRUE(spec) << preset.name << ": " << spec.error().message;
    EXPECT_EQ(parse_spec("@" + std::string(preset.name)).value(), spec.value());
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_FALSE(preset.differs.empty()) << preset.name;
    EXPECT_EQ(find_preset(preset.name), &preset);
  }
  EXPECT_EQ(find_preset("nothing"), nullptr);
}

TEST(Presets, AreThePublishedPoints) {
  const Spec sinks = parse_spec("@h2o-sinks").value();
  EXPECT_EQ(sinks.budget, 264U);
  EXPECT_EQ(sinks.middle(), 224U);
  EXPECT_EQ(sinks.slack, 64U);
  EXPECT_EQ(sinks.unit, Unit::layer);
  EXPECT_EQ(parse_spec("@tova").value().unit, Unit::layer);
  EXPECT_EQ(parse_spec("@streaming-llm").value().positions, Positions::in_cache);
  const Spec h2o = parse_spec("@h2o").value();
  EXPECT_EQ(h2o.middle(), h2o.recent);
}

}  // namespace
}  // namespace kv

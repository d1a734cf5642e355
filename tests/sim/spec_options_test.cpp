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

TEST(SpecStorage, IsWrittenWhereItIsGivenOnly) {
  const Spec plain = parse_spec("streaming").value();
  EXPECT_FALSE(plain.storage.has_value());
  EXPECT_THAT(plain.canonical(), testing::Not(testing::HasSubstr("storage")));
  for (const std::string_view storage : {"f32", "f16", "int8", "int4:recent=8,sinks=2", "kivi2"}) {
    const std::string setting = ";storage=" + std::string(storage);
    const Spec spec = parse_spec("streaming" + setting + ";chunk=4").value();
    EXPECT_EQ(spec.label(), "streaming" + setting + ";chunk=4");
    EXPECT_EQ(parse_spec(spec.canonical()).value(), spec);
    EXPECT_NE(spec, parse_spec("streaming;chunk=4").value());
  }
  EXPECT_EQ(parse_spec("dense;storage=int4:group=32").value(),
            parse_spec("dense;storage=int4").value());
}

TEST(SpecStorage, RefusesWhatMeansNothing) {
  EXPECT_EQ(error_of("dense;storage=kivi3"),
            "in spec 'dense;storage=kivi3': unknown storage 'kivi3'; did you mean 'kivi4'?");
  EXPECT_EQ(error_of("dense;storage=int4:recent"),
            "in spec 'dense;storage=int4:recent': storage int4: 'recent' is no field; expected "
            "NAME=VALUE, as in recent=128");
  EXPECT_THAT(error_of("streaming;positions=shifted;storage=kivi4"),
              testing::HasSubstr("share a scale with other tokens'"));
  EXPECT_THAT(error_of("dense;visibility=top-pages:64;storage=int4:recent=4"),
              testing::HasSubstr("ranks pages by their keys as they are stored"));
  EXPECT_THAT(error_of("dense:storage=f16"), testing::HasSubstr("belongs after a ';'"));
}

}  // namespace
}  // namespace kv

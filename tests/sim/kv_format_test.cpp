// Words for how keys and values are stored: what they mean, and what means nothing.
#include "kvcheck/sim/spec/kv_format.h"

#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

using namespace testing;

std::string refusal(std::string_view words) {
  const auto format = parse_kv_format(words);
  return format ? "understood as " + format->text() : format.error().message;
}

TEST(KvFormat, GivesBackItsWords) {
  for (const std::string_view words :
       {"f32", "f16", "bf16", "int8", "int4", "kivi4", "kivi2", "int8:recent=4", "int4:group=0",
        "int8:group=32", "int4:recent=128,sinks=4", "kivi2:recent=0",
        "kivi4:recent=64,sinks=1,full=bf16,group=16", "int4:sinks=4,full=f16"}) {
    EXPECT_EQ(refusal(words), "understood as " + std::string(words));
  }
  EXPECT_EQ(refusal("int4:group=32,sinks=4,recent=0"), "understood as int4:sinks=4");
  EXPECT_EQ(refusal("kivi2:recent=128"), "understood as kivi2");
}

TEST(KvFormat, HasTheDefaultsOfItsSources) {
  const KvFormat kivi = parse_kv_format("kivi2").value();
  EXPECT_EQ(kivi.recent, 128U);
  EXPECT_EQ(kivi.group_size, 32U);
  EXPECT_EQ(parse_kv_format("int4").value().group_size, 32U);
  EXPECT_EQ(parse_kv_format("int4").value().recent, 0U);
}

TEST(KvFormat, IsReadByKernelsWhereAllTokensAreStoredAlikeAsTheyKnowThem) {
  for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
    EXPECT_TRUE(KvFormat(number).direct());
    EXPECT_EQ(parse_kv_format(number_name(number)).value(), KvFormat(number));
  }
  EXPECT_TRUE(parse_kv_format("int8").value().direct());
  for (const std::string_view words : {"int8:recent=1", "int8:sinks=1", "int8:group=8", "int4"}) {
    EXPECT_FALSE(parse_kv_format(words).value().direct()) << words;
  }
}

TEST(KvFormat, OfPresetsIsUnderstood) {
  EXPECT_EQ(parse_spec("@kivi").value().storage, parse_kv_format("kivi2").value());
  for (const Preset& preset : presets()) {
    if (preset.storage.empty()) continue;
    const KvFormat format = parse_kv_format(preset.storage).value();
    EXPECT_EQ(format.text(), preset.storage);
    EXPECT_TRUE(check_format(parse_spec(preset.spec).value(), format)) << preset.name;
  }
}

TEST(KvFormat, RefusesWhatMeansNothing) {
  EXPECT_EQ(refusal("quantised"),
            "unknown --storage 'quantised' (there are f32, f16, bf16, int8, int4, kivi4, kivi2)");
  EXPECT_THAT(refusal("kivi8"), HasSubstr("unknown --storage 'kivi8'; did you mean 'kivi"));
  EXPECT_EQ(refusal("f32:recent=4"),
            "--storage f32 stores all tokens in the same form, and 'recent=4' distinguishes some; "
            "expected f32 "
            "alone, or codes: int8, int4, kivi4 or kivi2");
  EXPECT_EQ(refusal("int4:recnt=4"),
            "--storage int4: unknown field 'recnt'; did you mean 'recent'?");
  EXPECT_THAT(refusal("int4;recent=3"), HasSubstr("fields follow a ':', as in int4:recent=128"));
  EXPECT_EQ(refusal("int4:recent"),
            "--storage int4: 'recent' is no field; expected NAME=VALUE, as in recent=128");
  EXPECT_EQ(refusal("int4:"),
            "--storage int4: '' is no field; expected NAME=VALUE, as in recent=128");
  EXPECT_THAT(refusal("int4:recent=-1"), HasSubstr("recent"));
  EXPECT_THAT(refusal("kivi4:group=0"), HasSubstr("group"));
  EXPECT_EQ(refusal("int4:sinks=1,sinks=1"), "--storage int4 is given sinks twice");
  EXPECT_EQ(refusal("int4:recent=2,full=f15"),
            "--storage int4: unknown full 'f15'; did you mean 'f16'?");
  EXPECT_EQ(refusal("int4:full=f16"),
            "full is about tokens in full precision, and --storage int4 keeps none; expected "
            "recent or sinks beside it");
}

std::string refusal_under(std::string_view spec, std::string_view words) {
  const auto checked = check_format(parse_spec(spec).value(), parse_kv_format(words).value());
  return checked ? "fine" : checked.error().message;
}

TEST(KvFormat, IsRefusedInOneLine) {
  for (const char* text : {"int4:recent\n", "f16:a\nb", "in\nt4", "int4:recent=\n"}) {
    const auto format = parse_kv_format(text);
    ASSERT_FALSE(format) << text;
    EXPECT_THAT(format.error().message, testing::Not(testing::HasSubstr("\n"))) << text;
  }
}

TEST(KvFormat, IsRefusedUnderSpecsThatItCannotServe) {
  constexpr std::string_view shifted = "streaming;positions=shifted";
  EXPECT_EQ(refusal_under(shifted, "int4:recent=4"), "fine");
  EXPECT_EQ(
      refusal_under(shifted, "kivi4"),
      "positions=shifted rotates stored keys one by one, and those of kivi4 share a scale with "
      "other tokens'; expected positions=in-cache, or int8 or int4 as storage");
  EXPECT_EQ(refusal_under("streaming;positions=in-cache", "kivi4"), "fine");
  EXPECT_EQ(refusal_under("@discard-half", "int4"), "fine");
  EXPECT_EQ(refusal_under("@discard-half", "int4:sinks=4"),
            "vectors=re-evaluated makes all vectors anew, and int4:sinks=4 stores them by their "
            "age in the stream; expected storage without recent and sinks, or vectors=kept");
}

}  // namespace
}  // namespace kv

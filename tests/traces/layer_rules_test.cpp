// Traces of version 2: what layers may do is read, kept by every new file, and refused if wrong.
#include "kvcheck/traces/layer_rules.h"

#include <cmath>
#include <limits>

#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/files/edit.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/files/writer.h"
#include "kvcheck/traces/metadata.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

using namespace testing;
using test::bytes_of;
using test::error_of;
using test::SmallQkv;

// SmallQkv with these entries instead of "version":"1".
std::string with(const std::string& entries, const std::string& version = "2") {
  return error_of(SmallQkv()
                      .in_metadata(R"("version":"1")", R"("version":")" + version + "\"," + entries)
                      .bytes());
}

std::string instead(std::string_view from, std::string_view to) {
  return error_of(
      SmallQkv().in_metadata(R"("version":"1")", R"("version":"2")").in_metadata(from, to).bytes());
}

struct Added {
  std::string name;
  std::string dtype;
  std::vector<float> numbers;
};

// SmallQkv in version 2 with one more tensor.
std::string with_tensor(const Added& added, const std::string& version = "2") {
  SmallQkv file;
  file.in_metadata(R"("version":"1")", R"("version":")" + version + "\"");
  const std::string data = bytes_of(added.numbers);
  const std::size_t size = added.dtype == "F64" ? 8 : 4;
  file.tensors += ",\"" + added.name + R"(":{"dtype":")" + added.dtype + R"(","shape":[)" +
                  std::to_string(data.size() / size) + R"(],"data_offsets":[204,)" +
                  std::to_string(204 + data.size()) + "]}";
  return error_of(test::container("{\"__metadata__\":{" + file.metadata + "}," + file.tensors + "}",
                                  std::string(204, '\0') + data));
}

// Three layers of two heads, each of which does something else.
TraceInfo varied() {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.tokens = 3;
  info.query_heads = 4;
  info.kv_heads = 2;
  info.head_dim = 4;
  info.layers = {2, 5, 9};
  info.model_layers = 12;
  info.rope = {RopeLayout::half, 4, 500};
  info.rope_applied = true;
  info.rules = {{.layout = RopeLayout::half,
                 .frequencies = {1, 1.0 / 3},
                 .rope_scale = 1.5,
                 .scale = 0.25,
                 .sinks = {1, -2, 3, -4}},
                {.layout = RopeLayout::none, .window = 2, .slopes = {0.5F, 0, 0.25F, 1}},
                {.layout = RopeLayout::half, .cap = 50}};
  return info;
}

std::string file_of(const TraceInfo& info) {
  std::string path = test::temporary_path("rules");
  auto writer = TraceWriter::create(path, info).value();
  EXPECT_TRUE(writer.write(std::vector<float>(trace_numbers(info), 1)));
  EXPECT_TRUE(writer.commit());
  return path;
}

void expect_same(const TraceInfo& a, const TraceInfo& b) {
  EXPECT_EQ(a.rules, b.rules);
  EXPECT_EQ(a.rope, b.rope);
  EXPECT_EQ(a.rope_applied, b.rope_applied);
  EXPECT_EQ(a.model_layers, b.model_layers);
}

TEST(LayerRules, AreReadAsTheyWereWritten) {
  const Trace trace = open_trace(file_of(varied())).value();
  expect_same(trace.info(), varied());
  const std::string copy = test::temporary_path("copy");
  ASSERT_TRUE(save_trace(trace, copy));
  expect_same(open_trace(copy)->info(), varied());
  EXPECT_EQ(test::bytes_of_file(copy), test::bytes_of_file(file_of(varied())));
}

TEST(LayerRules, AreCutWithTheirLayersAndHeads) {
  const Trace trace = open_trace(file_of(varied())).value();
  const std::string path = test::temporary_path("cut");
  ASSERT_TRUE(
      rewrite(trace, {.layers = {{2, 9}}, .heads = {{2, 3}}, .tokens = {}}, Number::f16, path));
  const TraceInfo info = open_trace(path)->info();
  ASSERT_EQ(info.rules.size(), 2U);
  EXPECT_THAT(info.rules[0].sinks, ElementsAre(3, -4));
  EXPECT_EQ(info.rules[1], varied().rules[2]);
  EXPECT_TRUE(info.rope_applied);
  // What is left does not rotate, so that nothing was rotated either.
  ASSERT_TRUE(rewrite(trace, {.layers = {{5}}, .heads = {}, .tokens = {}}, Number::f16, path));
  EXPECT_FALSE(open_trace(path)->info().rope_applied);
  EXPECT_EQ(open_trace(path)->info().rope, Rope{});
}

TEST(LayerRules, WhatNeedsNoVersion2IsWrittenInVersion1) {
  TraceInfo info = varied();
  info.model_layers = 0;
  info.rope_applied = false;
  const LayerRules plain{.layout = RopeLayout::half};
  info.rules = {plain, plain, plain};
  TraceInfo bare = info;
  bare.rules.clear();
  const std::string bytes = test::bytes_of_file(file_of(info));
  EXPECT_EQ(bytes, test::bytes_of_file(file_of(bare)));
  EXPECT_THAT(bytes, HasSubstr(R"("version":"1")"));
  EXPECT_THAT(test::bytes_of_file(file_of(varied())), HasSubstr(R"("version":"2")"));
}

TEST(LayerRules, OneValueStandsForAllLayersAndNoneForNothing) {
  EXPECT_EQ(with(R"("window":"2","soft_cap":"none","attention_scale":"0.5")"), "opened");
  const std::string path = test::temporary_file(
      "one", SmallQkv()
                 .in_metadata(R"("version":"1")", R"("version":"2","window":"2","soft_cap":"none")")
                 .bytes());
  const TraceInfo info = open_trace(path)->info();
  EXPECT_EQ(rules_of(info, 0), (LayerRules{.layout = RopeLayout::half, .window = 2}));
}

TEST(LayerRules, WrongEntriesAreRefusedByName) {
  EXPECT_THAT(with(R"("window":"0")"), HasSubstr("window is '0'; expected"));
  EXPECT_THAT(with(R"("window":"-3")"), HasSubstr("window is '-3'; expected"));
  EXPECT_THAT(with(R"("window":"")"), HasSubstr("window is ''; expected"));
  EXPECT_THAT(with(R"("window":"4,4")"),
              HasSubstr("window has 2 values; expected one, or one for each of the 1 recorded"));
  EXPECT_THAT(with(R"("window":"4,4","soft_cap":"1,2,3")"), HasSubstr("values and"));
  EXPECT_THAT(with(R"("soft_cap":"0")"), HasSubstr("soft_cap is '0'; expected"));
  EXPECT_THAT(with(R"("soft_cap":"nan")"), HasSubstr("soft_cap is 'nan'; expected"));
  EXPECT_THAT(with(R"("rope_scale":"-1")"), HasSubstr("rope_scale is '-1'; expected"));
  EXPECT_THAT(with(R"("rope_scale":"none")"), HasSubstr("rope_scale is 'none'; expected"));
  EXPECT_THAT(with(R"("attention_scale":"inf")"), HasSubstr("attention_scale is 'inf'; expected"));
  EXPECT_THAT(with(R"("rope_applied":"maybe")"), HasSubstr("unknown rope_applied 'maybe'"));
  EXPECT_THAT(
      with(R"("learned_sinks":"yes")"),
      HasSubstr("'learned_sinks' in a trace of kind qkv; expected tensors 'layers.N.sinks'"));
  EXPECT_THAT(with(R"("model_layers":"7")"),
              HasSubstr("model_layers is 7, but layer 7 is recorded; expected a larger number"));
  EXPECT_THAT(instead(R"("half")", R"("half,interleaved")"),
              HasSubstr("names interleaved and half; expected one of them"));
  EXPECT_THAT(instead(R"("rope_layout":"half")", R"("rope_layout":"none","rope_applied":"yes")"),
              HasSubstr("rope_applied is 'yes', but no layer rotates"));
  EXPECT_THAT(instead(R"("rope_theta":"10000",)", ""),
              HasSubstr("no tensor 'layers.7.frequencies', and __metadata__ has no 'rope_theta'"));
  EXPECT_THAT(with(R"("x":"y")", "3"), HasSubstr("version '3'; this kvcheck reads '1' and '2'"));
}

TEST(LayerRules, WrongTensorsAreRefusedByName) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string frequencies = "layers.7.frequencies";
  const std::string sinks = "layers.7.sinks";
  EXPECT_EQ(with_tensor({frequencies, "F32", {1, 0.5}}), "opened");
  EXPECT_EQ(with_tensor({frequencies, "F64", {0, 1, 0, 1}}), "opened");
  EXPECT_EQ(with_tensor({sinks, "F32", {-3, 4}}), "opened");
  EXPECT_THAT(
      with_tensor({frequencies, "F32", {1, nan}}),
      HasSubstr("'layers.7.frequencies' has nan at 1; expected a finite number, at least 0"));
  EXPECT_THAT(with_tensor({frequencies, "F32", {-1, 1}}), HasSubstr("has -1 at 0; expected"));
  EXPECT_THAT(with_tensor({frequencies, "F32", {1, 1, 1}}), HasSubstr("has 3 numbers; expected 2"));
  EXPECT_THAT(with_tensor({frequencies, "I32", {1, 1}}),
              HasSubstr("is I32 [2]; expected F32 or F64 and one list of 1 to 65535 numbers"));
  EXPECT_THAT(with_tensor({sinks, "F32", {1, 2, 3}}), HasSubstr("has 3 numbers; expected 2"));
  EXPECT_THAT(with_tensor({sinks, "F32", {1, -HUGE_VALF}}), HasSubstr("has -inf at 1; expected"));
  EXPECT_THAT(with_tensor({sinks, "F64", {1, 2, 3, 4}}), HasSubstr("is F64 [2]; expected F32 and"));
  EXPECT_THAT(with_tensor({"layers.7.slopes", "F32", {1, -1}}), HasSubstr("has -1 at 1; expected"));
  EXPECT_THAT(with_tensor({"layers.6.sinks", "F32", {1, 2}}), HasSubstr("'layers.6.q' is missing"));
  EXPECT_THAT(with_tensor({sinks, "F32", {1, 2}}, "1"), HasSubstr("unexpected tensor"));
}

// One head of two tokens whose second row sums to a half.
std::string dump_with_a_sink() {
  return test::npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2), }",
                   bytes_of({1, 0, 0.25F, 0.25F}));
}

TEST(LearnedSinks, RowsMaySumToLessIfTheDumpIsSaidToHaveThem) {
  const std::string path = test::temporary_file("dump", dump_with_a_sink());
  const auto without = verify(open_dump(path, {}).value().trace);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("sum to 0.5; expected 1 within"));
  const Dump dump = open_dump(path, {.learned_sinks = true}).value();
  EXPECT_TRUE(verify(dump.trace));
  const std::string saved = test::temporary_path("saved");
  ASSERT_TRUE(save_trace(dump.trace, saved));
  EXPECT_TRUE(open_trace(saved)->info().learned_sinks);
  EXPECT_TRUE(verify(open_trace(saved).value()));
}

TEST(LearnedSinks, AreSaidByAnArchiveBesideTheArray) {
  const auto number = [](int value) {
    const std::int64_t wide = value;
    return test::npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
                     std::string(reinterpret_cast<const char*>(&wide), sizeof wide));
  };
  const auto opened = [&](int sinks) {
    return open_dump(
        test::temporary_file("dump", test::zip({{"kv_heads.npy", number(1)},
                                                {"arr_0.npy", dump_with_a_sink()},
                                                {"learned_sinks.npy", number(sinks)}})),
        {});
  };
  EXPECT_TRUE(opened(1).value().trace.info().learned_sinks);
  EXPECT_FALSE(opened(0).value().trace.info().learned_sinks);
  EXPECT_THAT(opened(2).error().message, HasSubstr("'learned_sinks.npy' holds 2; expected 0 to 1"));
}

TEST(LearnedSinks, DoNotExcuseRowsAboveOneOrATraceThatDoesNotSayThem) {
  const std::string heavy =
      test::npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2), }",
                bytes_of({1, 0, 0.75F, 0.5F}));
  const Dump dump = open_dump(test::temporary_file("dump", heavy), {.learned_sinks = true}).value();
  const auto verified = verify(dump.trace);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("sum to 1.25; expected at most 1 within"));
  const std::string qkv = test::temporary_file("qkv", SmallQkv().bytes());
  const auto refused = open_dump(qkv, {.learned_sinks = true});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the trace does not say 'learned_sinks'"));
}

}  // namespace
}  // namespace kv

// kvcheck trace info, convert and slice on traces of version 2.
#include <boost/json.hpp>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/traces/files/writer.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;
using testing::Not;

std::string file_in(const test::TemporaryFolder& folder) {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.tokens = 6;
  info.query_heads = 2;
  info.kv_heads = 1;
  info.head_dim = 4;
  info.layers = {0, 2, 3};
  info.model_layers = 26;
  info.rope = {RopeLayout::half, 4, 10000};
  info.rules = {{.layout = RopeLayout::half, .cap = 50, .window = 4},
                {.layout = RopeLayout::half, .frequencies = {1, 0.5}, .cap = 50, .sinks = {1, 2}},
                {.layout = RopeLayout::none, .cap = 50, .window = 4}};
  std::string path = folder / "rules.safetensors";
  auto writer = TraceWriter::create(path, info).value();
  EXPECT_TRUE(writer.write(std::vector<float>(trace_numbers(info), 0.5F)));
  EXPECT_TRUE(writer.commit());
  return path;
}

TEST(TraceOfVersion2, InfoSaysWhatLayersDo) {
  const test::TemporaryFolder folder;
  const Ran text = run({"trace", "info", file_in(folder)});
  EXPECT_THAT(text.out, HasSubstr("  layers      3 of 26: 0,2-3\n"));
  EXPECT_THAT(text.out, HasSubstr("  rotation    half, 4 dimensions, theta 10000, a table of "
                                  "frequencies in layer 2, none in layer 3\n"));
  EXPECT_THAT(text.out,
              HasSubstr("  attention   soft cap 50, window 4 in layers 0,3, learned sinks "
                        "in layer 2\n"));
  const Ran json = run({"trace", "info", file_in(folder), "--json"});
  const boost::json::value info = boost::json::parse(json.out);
  EXPECT_EQ(info.at("model_layers").as_int64(), 26);
  EXPECT_EQ(info.at_pointer("/rules/1/frequencies/1").as_double(), 0.5);
  EXPECT_EQ(info.at_pointer("/rules/2/window").as_int64(), 4);
  EXPECT_EQ(run({"trace", "verify", file_in(folder)}).status, 0);
}

TEST(TraceOfVersion2, ConvertAndSliceKeepWhatLayersDo) {
  const test::TemporaryFolder folder;
  const std::string part = folder / "part.safetensors";
  EXPECT_EQ(run({"trace", "convert", file_in(folder), "-o", part, "--dtype", "f16"}).status, 0);
  EXPECT_THAT(run({"trace", "info", part}).out, HasSubstr("learned sinks in layer 2"));
  EXPECT_EQ(run({"trace", "slice", file_in(folder), "-o", part, "--layers", "3"}).status, 0);
  const Ran cut = run({"trace", "info", part});
  EXPECT_THAT(cut.out, HasSubstr("  rotation    none\n  attention   soft cap 50, window 4\n"));
  EXPECT_THAT(cut.out, Not(HasSubstr("sinks")));
}

TEST(TraceOfVersion2, ADumpOfAModelWithSinksIsConvertedIfItIsSaidToHaveThem) {
  const test::TemporaryFolder folder;
  const std::string dump = folder / "even.npy";
  test::write_even_attention(dump, 2, 8);
  const std::string trace = folder / "even.safetensors";
  const Ran converted = run({"trace", "convert", dump, "-o", trace, "--learned-sinks"});
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_THAT(converted.out, HasSubstr("learned sinks: rows may sum to less than 1"));
  EXPECT_THAT(run({"replay", "synthetic:zipf:tokens=16", "--policy", "window", "--budget", "8",
                   "--learned-sinks"})
                  .err,
              HasSubstr("which is a generated stream; expected it for an attention dump"));
}

}  // namespace
}  // namespace kv

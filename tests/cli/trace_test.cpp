#include "kvcheck/cli/trace/trace.h"

#include <boost/json.hpp>
#include <filesystem>
#include <sstream>

#include "kvcheck/cli/trace/trace_options.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::cli {
namespace {

using namespace testing;

const std::string bundled = KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";

struct Outcome {
  std::string error;  // "" when it went well
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{out, err};
  const auto done = trace_command.run(arguments, streams);
  return {done ? "" : done.error().message, out.str(), err.str()};
}

TEST(TraceCommand, ShowsWhatATraceHolds) {
  const Outcome shown = run({"info", bundled});
  EXPECT_EQ(shown.error, "");
  EXPECT_THAT(shown.out, StartsWith("tinystories-2m.qkv.safetensors\n  kind        qkv"));
  EXPECT_THAT(shown.out, HasSubstr("\n  layers      6: 0-5\n"));
  EXPECT_THAT(shown.out, HasSubstr("4 query heads on 4 kv-heads, 32 dimensions each"));
}

TEST(TraceCommand, PrintsOneJsonObjectPerFile) {
  const Outcome shown = run({"info", "--json", bundled, bundled});
  EXPECT_EQ(shown.error, "");
  const std::string line = shown.out.substr(0, shown.out.find('\n'));
  EXPECT_EQ(shown.out, line + "\n" + line + "\n");
  const boost::json::object object = boost::json::parse(line).as_object();
  EXPECT_EQ(object.at("tokens").as_int64(), 512);
  EXPECT_EQ(object.at("layers").as_array().size(), 6U);
  EXPECT_EQ(object.at("rope_layout").as_string(), "interleaved");
  EXPECT_EQ(object.at("checksum").as_string().size(), 16U);
}

TEST(TraceCommand, VerifiesEveryFileEvenAfterABadOne) {
  const std::string bad = test::temporary_file("bad", "nothing");
  const Outcome one = run({"verify", bad, bundled});
  EXPECT_THAT(one.error, HasSubstr("the file has 7 bytes"));
  EXPECT_THAT(one.out, HasSubstr("tinystories-2m.qkv.safetensors: valid; 1179648 numbers"));
  const Outcome two = run({"verify", bad, bundled, bad});
  EXPECT_EQ(two.error, "2 of 3 files are not valid traces");
  EXPECT_THAT(two.err, HasSubstr("the file has 7 bytes"));
}

TEST(TraceCommand, SlicesAndConverts) {
  const std::string path = test::temporary_path("out.safetensors");
  const Outcome sliced =
      run({"slice", bundled, "-o", path, "--layers=0,3-5", "--tokens", "0-9", "--dtype", "f32"});
  EXPECT_EQ(sliced.error, "");
  const Trace trace = open_trace(path).value();
  EXPECT_THAT(trace.info().layers, ElementsAre(0, 3, 4, 5));
  EXPECT_EQ(trace.info().tokens, 10U);
  EXPECT_EQ(trace.info().number, Number::f32);
  EXPECT_EQ(run({"convert", bundled, "--output", path}).error, "");
  EXPECT_EQ(test::bytes_of_file(path), test::bytes_of_file(bundled));
}

TEST(TraceCommand, ShowsBothLicencesOfTheBundledTrace) {
  EXPECT_THAT(run({"info", bundled}).out,
              HasSubstr("\n  licence     model weights: MIT; text: CDLA-Sharing-1.0\n"));
}

TEST(TraceCommand, NamesWhatADumpHasNoPlaceFor) {
  const std::string dump = test::temporary_path("dump.npy");
  const std::string path = test::temporary_path("named.safetensors");
  test::write_even_attention(dump, 1, 4);
  EXPECT_EQ(run({"convert", dump, "-o", path, "--model", "m", "--licence", "l"}).error, "");
  const TraceInfo named = open_trace(path).value().info();
  EXPECT_EQ(named.model, "m");
  EXPECT_EQ(named.source, "");
  EXPECT_EQ(named.licence, "l");
  EXPECT_EQ(run({"convert", path, "-o", path, "--source", "s", "--licence", ""}).error, "");
  const TraceInfo again = open_trace(path).value().info();
  EXPECT_EQ(again.model, "m");
  EXPECT_EQ(again.source, "s");
  EXPECT_EQ(again.licence, "");
  EXPECT_THAT(run({"slice", path, "-o", path, "--model", "x"}).error,
              HasSubstr("unknown option '--model'"));
}

TEST(TraceCommand, ExplainsWrongWords) {
  EXPECT_THAT(run({}).error,
              HasSubstr("expected a verb (info, verify, convert, slice or generate)"));
  EXPECT_THAT(run({"vrify"}).error, HasSubstr("unknown verb 'vrify'; did you mean 'verify'?"));
  EXPECT_THAT(run({"info"}).error, HasSubstr("no file is named"));
  EXPECT_THAT(run({"info", "--jsn", "x"}).error, HasSubstr("did you mean '--json'?"));
  EXPECT_THAT(run({"info", "--json=1", "x"}).error, HasSubstr("--json takes no value"));
  EXPECT_THAT(run({"convert", "x"}).error, HasSubstr("no output is named; expected -o FILE"));
  EXPECT_THAT(run({"convert", "x", "-o"}).error, HasSubstr("--output needs a value"));
  EXPECT_THAT(run({"convert", "x", "-o", "y", "-o", "z"}).error, HasSubstr("given more than once"));
  EXPECT_THAT(run({"convert", "x", "y", "-o", "z"}).error, HasSubstr("2 input files"));
  EXPECT_THAT(run({"convert", "x", "-o", "z", "--dtype", "fp16"}).error,
              HasSubstr("unknown dtype 'fp16'"));
  EXPECT_THAT(run({"convert", "x", "-o", "z", "--layers", "1"}).error,
              HasSubstr("unknown option '--layers'"));
  EXPECT_THAT(run({"slice", "x", "-o", "z", "--tokens", "5-9"}).error,
              HasSubstr("begins at 5; expected 0"));
  EXPECT_THAT(run({"slice", "x", "-o", "z", "--tokens", "-1"}).error,
              HasSubstr("--tokens is '-1'"));
}

TEST(TraceCommand, LeavesTheOutputAloneWhenTheInputIsBad) {
  const std::string output = test::temporary_file("kept", "precious");
  const std::string bad = test::temporary_file("bad", "nothing");
  EXPECT_NE(run({"convert", bad, "-o", output}).error, "");
  EXPECT_NE(run({"slice", bundled, "-o", output, "--layers", "9"}).error, "");
  EXPECT_EQ(test::bytes_of_file(output), "precious");
}

TEST(TraceCommand, HelpNamesEveryVerbAndOption) {
  const std::string help = test::run({"trace", "slice", "--help"}).out;
  for (const char* word : {"info", "verify", "convert", "slice", "--output", "--dtype", "--layers",
                           "--heads", "--tokens", "--json", "Examples"}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
}

TEST(Numbers, AreReadAndPrintedAsRanges) {
  for (const char* text : {"0", "0-1", "0,3-5", "2,4,6-9"}) {
    EXPECT_EQ(numbers_text(parse_numbers(text, "--layers").value()), text);
  }
  EXPECT_THAT(parse_numbers("1-3", "--layers").value(), ElementsAre(1, 2, 3));
  for (const char* text : {"", "a", "1,", "-", "3-1", "1,1", "2,1", "1-2-3", "0-65535,0-65535",
                           "99999999999999999999", "0-70000"}) {
    EXPECT_FALSE(parse_numbers(text, "--layers")) << text;
  }
  for (const char* text : {"3-1,\n2", "3,\n2", "2-\n1"}) {
    const auto numbers = parse_numbers(text, "--layers");
    ASSERT_FALSE(numbers) << text;
    EXPECT_THAT(numbers.error().message, Not(HasSubstr("\n"))) << text;
  }
}

TEST(TraceCommand, GivesADumpItsKvHeadsAndWords) {
  const std::string dump = test::temporary_path("even.npy");
  kv::test::write_even_attention(dump, 8, 3);
  const std::string words = test::temporary_file("words.json", R"(["<s>", "one", " two"])");
  const std::string out = test::temporary_path("even.safetensors");
  const Outcome silent = run({"convert", dump, "-o", out});
  EXPECT_EQ(silent.error, "");
  EXPECT_THAT(silent.out, HasSubstr("8 query heads on 8 kv-heads"));
  EXPECT_THAT(silent.err, HasSubstr("does not say which of its 8 heads share keys"));
  const Outcome said = run({"convert", dump, "-o", out, "--kv-heads", "2", "--words", words});
  EXPECT_EQ(said.error, "");
  EXPECT_THAT(said.out, HasSubstr("8 query heads on 2 kv-heads"));
  EXPECT_EQ(said.err, "");
  const Trace trace = open_trace(out).value();
  EXPECT_EQ(trace.transcript().text, "<s>one two");
  EXPECT_THAT(trace.transcript().text_ends, ElementsAre(3, 6, 10));
  EXPECT_THAT(run({"convert", dump, "-o", out, "--kv-heads", "3"}).error,
              HasSubstr("3 kv-heads cannot share evenly"));
  const std::string few = test::temporary_file("few.json", "[]");
  EXPECT_THAT(run({"convert", dump, "-o", out, "--words", few}).error,
              AllOf(HasSubstr("few.json': "), HasSubstr("has 0 entries")));
  EXPECT_THAT(run({"convert", out, "-o", out, "--kv-heads", "4"}).error,
              HasSubstr("the trace has 2 kv-heads, but 4 are given"));
}

}  // namespace
}  // namespace kv::cli

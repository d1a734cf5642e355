#include "kvcheck/cli/trace/trace_generate.h"

#include <fstream>
#include <sstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/traces/synthetic/synthetic.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {
namespace {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome generate(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{out, err};
  const int status = run_command(trace_generate_command, arguments, streams);
  return {status, out.str(), err.str()};
}

class TraceGenerate : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  [[nodiscard]] std::string bytes(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
};

TEST_F(TraceGenerate, WritesATraceThatOpensAndNamesItsSpec) {
  const Outcome outcome = generate({"zipf:hitters=8", "--tokens", "300", "--seed=5", "--kind",
                                    "qkv", "--kv-heads", "2", "-o", path("t.safetensors")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto trace = open_trace(path("t.safetensors"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->info().tokens, 300U);
  EXPECT_EQ(trace->info().kind, TraceKind::qkv);
  const auto spec = parse_synthetic("zipf:hitters=8,tokens=300,seed=5,kind=qkv,kv_heads=2");
  ASSERT_TRUE(spec);
  EXPECT_EQ(trace->info().source, "kvcheck trace generate " + spec->canonical());
}

TEST_F(TraceGenerate, TakesOptionsAsFields) {
  ASSERT_EQ(generate({"ties", "--tokens", "20", "-o", path("a")}).status, 0);
  ASSERT_EQ(generate({"ties:", "--tokens", "20", "-o", path("b")}).status, 0);
  ASSERT_EQ(generate({"ties:tokens=20", "-o", path("c")}).status, 0);
  EXPECT_FALSE(bytes("a").empty());
  EXPECT_EQ(bytes("a"), bytes("b"));
  EXPECT_EQ(bytes("a"), bytes("c"));
}

TEST_F(TraceGenerate, PrintsWhatItPlanted) {
  const Outcome outcome = generate({"needle:position=5,spread=0,ask_at=20,ask_every=0,attended=2",
                                    "--tokens=30", "--heads=1", "--planted", "-"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "{\"layer\":0,\"kv_head\":0,\"what\":\"needle\",\"mass\":0.9,"
            "\"queries\":[[5,7],[20,21]],\"keys\":[[5,1]]}\n");
}

TEST_F(TraceGenerate, ListsEveryGeneratorWithItsFields) {
  const Outcome outcome = generate({"--list"});
  EXPECT_EQ(outcome.status, 0);
  for (const SyntheticEntry& entry : synthetic_registry()) {
    EXPECT_THAT(outcome.out, testing::HasSubstr(std::string(entry.name) + ": "));
    for (const SyntheticParameter& own : entry.parameters) {
      EXPECT_THAT(outcome.out, testing::HasSubstr("    " + std::string(own.name) + "="));
    }
  }
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(TraceGenerate, NamesEveryGeneratorInItsHelp) {
  for (const SyntheticEntry& entry : synthetic_registry()) {
    EXPECT_THAT(trace_generate_command.help, testing::HasSubstr(entry.name));
  }
}

TEST_F(TraceGenerate, RefusesWrongWordsAndWritesNothing) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"zpif", "-o", path("t")}, "did you mean 'zipf'"},
      {{"-o", path("t")}, "generator"},
      {{"zipf", "ties", "-o", path("t")}, "ties"},
      {{"zipf:tokens=5", "--tokens", "6", "-o", path("t")}, "'tokens' is given twice"},
      {{"zipf", "--tokens", "5,seed=3", "-o", path("t")}, "--tokens is '5,seed=3'"},
      {{"zipf", "--tokens", "-1", "-o", path("t")}, "tokens is '-1'"},
      {{"zipf", "--seed", "", "-o", path("t")}, "seed is ''"},
      {{"zipf", "-o", "-"}, "standard output"},
      {{"zipf"}, "nothing to write"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Outcome outcome = generate(arguments);
    EXPECT_EQ(outcome.status, 2) << sentence;
    EXPECT_THAT(outcome.err, testing::HasSubstr(sentence));
  }
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
}

}  // namespace
}  // namespace kv::cli

// Token numbers as input, and every family under the commands that run a model.
#include <boost/json.hpp>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_families.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;

// Of the tokenizer of small_llama_that_reads(), whose first tokens are the characters from '!' on.
const std::string letters = "abcabcab";
const std::string numbers = "257 257\n256";

std::string without_names(const std::string& json) {
  return json.substr(json.find("\"targets\""));
}

std::string some_ids(std::size_t count) {
  std::string ids;
  for (std::size_t i = 0; i < count; ++i) ids += std::to_string(i * i * 7 % 31 + 1) + " ";
  return ids;
}

TEST(TokenIds, GiveTheNumbersOfTheSameText) {
  const std::string model = test::small_llama_that_reads("ids-model");
  const std::string text = test::temporary_file("text.txt", letters);
  const std::string ids = test::temporary_file("ids.txt", numbers);
  const Ran read = run({"eval", "--model", model, "--text", text, "--json", "-", "-q"});
  const Ran given = run({"eval", "--model", model, "--ids", "--text", ids, "--json", "-", "-q"});
  ASSERT_EQ(read.status, 0) << read.err;
  ASSERT_EQ(given.status, 0) << given.err;
  EXPECT_EQ(without_names(given.out), without_names(read.out));
  EXPECT_THAT(read.out, HasSubstr("\"targets\":3"));
  const Ran bare =
      run({"eval", "--model", model, "--no-begin", "--text", text, "--json", "-", "-q"});
  EXPECT_THAT(bare.out, HasSubstr("\"targets\":2"));
}

TEST(TokenIds, AreChecked) {
  const std::string model = test::small_llama().write("ids-model");
  const auto said = [&](const std::string& text) {
    return run({"eval", "--model", model, "--ids", "--text", test::temporary_file("ids.txt", text)})
        .err;
  };
  EXPECT_THAT(said("1 2 32"), HasSubstr("have '32' at byte 4; expected numbers from 0 to 31"));
  EXPECT_THAT(said("1 two"), HasSubstr("have 'two' at byte 2"));
  EXPECT_THAT(said("1 -2"), HasSubstr("have '-2' at byte 2"));
  EXPECT_THAT(run({"eval", "--model", model, "--ids", "--tokenizer", "x", "--text", "y"}).err,
              HasSubstr("--ids opens no tokenizer"));
  EXPECT_THAT(run({"eval", "--model", model, "--ids", "--policy", "token-classes", "--budget", "4",
                   "--text", test::temporary_file("ids.txt", some_ids(20))})
                  .err,
              HasSubstr("looks at the words that tokens are"));
}

std::vector<std::string> all_families() {
  std::vector<std::string> names = test::small_family_names();
  names.insert(names.end(), {"gpt_neox", "gpt2"});
  return names;
}

// The table of docs/model.md: each family under each command, on 40 tokens of random weights.
class EveryFamily : public testing::TestWithParam<std::string> {
 protected:
  static test::SmallModel small() {
    if (GetParam() == "gpt_neox") return test::small_gpt_neox();
    if (GetParam() == "gpt2") return test::small_gpt2();
    return test::small_family(GetParam());
  }

  std::string model_ = small().write("family");
  std::string text_ = test::temporary_file("ids.txt", some_ids(40));
  const test::TemporaryFolder folder_;
};

TEST_P(EveryFamily, IsEvaluatedWithTheOpenLoopBesideIt) {
  const Ran ran = run(
      {"eval",     "--model",     model_,     "--ids",    "--text",
       text_,      "--policy",    "dense",    "--policy", "streaming:sinks=2;positions=absolute",
       "--policy", "h2o",         "--budget", "8",        "--windows",
       "30",       "--open-loop", "--json",   "-",        "-q"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"architecture\":\"" +
                                 (GetParam() == "qwen2" ? "llama" : GetParam()) + "\""));
  EXPECT_THAT(ran.out, HasSubstr("\"retained_mass\":1"));
}

TEST_P(EveryFamily, GeneratesAndRecords) {
  const Ran wrote = run({"generate", "--model", model_, "--ids", "--prompt", "1 2 3", "--tokens",
                         "5", "--temperature", "0", "--policy", "window", "--budget", "6"});
  EXPECT_EQ(wrote.status, 0) << wrote.err;
  EXPECT_GE(split(wrote.out, ' ').size(), 2U) << wrote.out;
  const std::string trace = folder_ / "trace.safetensors";
  const Ran recorded = run(
      {"record", "--model", model_, "--ids", "--text", text_, "--kind", "attention", "-o", trace});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_EQ(open_trace(trace).value().info().tokens, 40U);
}

// The numbers that a replay of vectors gives are those of the rows that the model had.
TEST_P(EveryFamily, RecordsVectorsThatReplayAsItsRows) {
  const auto replayed = [&](const std::string& kind) {
    const std::string trace = folder_ / (kind + ".safetensors");
    const Ran recorded = run({"record", "--model", model_, "--ids", "--text", text_, "--kind", kind,
                              "--storage", "f32", "-o", trace});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    const Ran ran =
        run({"replay", trace, "--policy", "streaming:sinks=2", "--policy", "h2o", "--policy",
             "tova", "--budget", "8,16", "--json", "-", "--per-head", "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<double> masses;
    for (const std::string_view line : split(ran.out, '\n')) {
      if (line.empty()) continue;
      const boost::json::value cell = boost::json::parse(line);
      masses.push_back(cell.at("retained_mass").to_number<double>());
    }
    return masses;
  };
  const std::vector<double> vectors = replayed("qkv");
  const std::vector<double> rows = replayed("attention");
  ASSERT_EQ(vectors.size(), rows.size());
  ASSERT_GT(vectors.size(), 12U);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(vectors[i], rows[i], 2e-6) << i;
  const Ran moved = run({"replay", folder_ / "qkv.safetensors", "--policy", "all", "--budget", "8",
                         "--json", "-", "-q"});
  EXPECT_EQ(moved.status, 0) << moved.err;
}

// In-cache positions need vectors, which the open loop records.
TEST_P(EveryFamily, HasAnOpenLoopAtRanks) {
  const Ran ran = run({"eval", "--model", model_, "--ids", "--text", text_, "--policy", "dense",
                       "--policy", "streaming:sinks=2;positions=in-cache", "--budget", "8",
                       "--windows", "30", "--open-loop", "--json", "-", "-q"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"retained_mass\":0."));
}

INSTANTIATE_TEST_SUITE_P(All, EveryFamily, testing::ValuesIn(all_families()), [](const auto& one) {
  return one.param;
});

}  // namespace
}  // namespace kv

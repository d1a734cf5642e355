// The commands that run a model: eval and generate, on a small model with random weights.
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/small_model.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ModelCommands : public test::SmallModelTest {
 protected:
  [[nodiscard]] Ran eval(const std::vector<std::string>& more) const {
    return run_with({"eval", "--model", model_, "--text", text_, "--quiet"}, more);
  }

  static Ran run_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(ModelCommands, EvalPrintsARowPerPolicyAndBudget) {
  const Ran ran = eval({"--policy", "dense", "--policy", "streaming:sinks=1", "--budget", "8,16",
                        "--segment", "16"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("in 1 stream; closed loop"));
  EXPECT_THAT(ran.out, HasSubstr("perplexity"));
  EXPECT_THAT(ran.out, HasSubstr("16-32"));
  EXPECT_THAT(ran.out, HasSubstr("Dense there is dense's over the same targets."));
  EXPECT_EQ(split(ran.out, '\n').size(), 3U + 1 + 3 + 2 + 1) << ran.out;
}

TEST_F(ModelCommands, EvalsJsonDoesNotDependOnTheChunk) {
  const auto json = [&](const std::string& chunk) {
    std::string line = eval({"--policy", "dense", "--json", "-", "--chunk", chunk}).out;
    const std::size_t at = line.find("chunk=" + chunk);
    if (at != std::string::npos) line.replace(at, 6 + chunk.size(), "chunk=N");
    const std::size_t bytes = line.find("\"kv_bytes\":");
    line.erase(bytes, line.find(',', bytes) - bytes);
    return line;
  };
  EXPECT_THAT(json("1"), HasSubstr("\"targets\":"));
  EXPECT_EQ(json("1"), json("13"));
}

TEST_F(ModelCommands, EvalCutsTheTextIntoPieces) {
  EXPECT_THAT(eval({"--split", "<end>", "--each"}).out, HasSubstr("in 3 streams"));
  // Each piece has a begin token before it.
  EXPECT_THAT(eval({"--split", "<end>"}).out, HasSubstr(", 28 tokens in 1 stream"));
  EXPECT_THAT(eval({"--split", "<end>", "--mark"}).out, HasSubstr(", 30 tokens in 1 stream"));
}

TEST_F(ModelCommands, EvalStoresAndExportsItsRun) {
  const test::TemporaryFolder folder;
  const Ran ran = eval({"--policy", "dense", "--policy", "window", "--budget", "8,16", "--windows",
                        "0,12", "-o", folder / "run.db", "--csv", folder / "a.csv", "--json",
                        folder / "a.jsonl", "--markdown", folder / "a.md"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("in 1 stream;"));
  EXPECT_THAT(ran.out, HasSubstr(" windows of at most 12;"));
  EXPECT_EQ(split(test::read_text(folder / "a.csv"), '\n').size(), 1U + 6 + 1);
  EXPECT_EQ(split(test::read_text(folder / "a.jsonl"), '\n').size(), 6U + 1);
  EXPECT_THAT(test::read_text(folder / "a.md"), HasSubstr("| window | 16 |"));
  EXPECT_THAT(run({"report", folder / "run.db", "--list"}).out,
              HasSubstr("run 1, complete, 2 evaluations, 6 cells"));
  EXPECT_EQ(run({"report", folder / "run.db", "-o", folder / "report"}).status, 0);
  EXPECT_THAT(test::read_text(folder / "report/index.html"), HasSubstr("--windows 0,<wbr>12"));
  expect_refused(eval({"--json", text_}), "--json '" + text_ + "' would overwrite the input");
  expect_refused(eval({"--windows", "1"}), "expected 0 (not cut) or 2 and more");
}

TEST_F(ModelCommands, EvalPutsTheOpenLoopBesideTheClosedOne) {
  const test::TemporaryFolder folder;
  const Ran ran = eval({"--policy", "dense", "--policy", "window", "--policy", "h2o", "--budget",
                        "8,16", "--open-loop", "--csv", folder / "a.csv"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("retained once evicting"));
  EXPECT_THAT(ran.out, HasSubstr("Spearman's rank correlation"));
  EXPECT_THAT(ran.out, HasSubstr(" needs three specs of one budget"));
  const std::string csv = test::read_text(folder / "a.csv");
  // What evicts nothing retains everything.
  EXPECT_THAT(csv, HasSubstr(",dense,,1,"));
  EXPECT_THAT(eval({"--policy", "dense"}).out, Not(HasSubstr("retained")));
  std::string longer;
  for (int i = 0; i < 100; ++i) longer += "abc abcab. ";
  const std::string text = test::temporary_file("longer.txt", longer);
  expect_refused(run({"eval", "--model", model_, "--text", text, "--quiet", "--open-loop"}),
                 "longer than the 64 tokens that the model was trained on; expected --windows 64");
}

TEST_F(ModelCommands, EvalsNumbersDoNotDependOnTheThreads) {
  const auto json = [&](const std::string& threads) {
    return eval({"--policy", "dense", "--policy", "h2o", "--policy", "random", "--budget", "8,16",
                 "--windows", "0,12", "--threads", threads, "--json", "-"})
        .out;
  };
  EXPECT_EQ(split(json("1"), '\n').size(), 10U + 1);
  EXPECT_EQ(json("1"), json("5"));
}

TEST_F(ModelCommands, GenerateNamesTheCommandOfSyntheticStreams) {
  const std::string arguments = "a synthetic stream is made by 'kvcheck trace generate ";
  expect_refused(run({"generate", "zipf:tokens=9", "-o", "x"}), arguments + "zipf:tokens=9'");
  expect_refused(run({"generate", "--list"}), arguments + "--list'");
  EXPECT_THAT(run({"trace", "generate", "--help"}).out, HasSubstr("sink-recency"));
  EXPECT_THAT(run({"trace", "generate", "zipff"}).err,
              HasSubstr("kvcheck trace generate: unknown generator 'zipff'; did you mean 'zipf'?"));
}

TEST_F(ModelCommands, RefuseWhatIsMissing) {
  expect_refused(run({"eval"}), "no --model is given");
  expect_refused(run({"eval", "--model", model_}), "no --text is given");
  expect_refused(run({"eval", "--model", "/nowhere", "--text", text_}), "there is no model at");
  expect_refused(run({"eval", "--model", test::small_llama().write("mute"), "--text", text_}),
                 "has neither tokenizer.json nor vocab.json");
  expect_refused(eval({"--policy", "strm"}), "did you mean 'streaming'");
  expect_refused(eval({"--storage", "f16:recent=4"}), "stores all tokens in the same form");
  expect_refused(eval({"--keys", "mixed"}), "unknown --keys 'mixed'");
  expect_refused(eval({"--weights", "int4"}), "unknown --weights 'int4'; did you mean 'int8'?");
  expect_refused(eval({"--each"}), "expected both");
  expect_refused(eval({"--policy", "h2o;unit=model;visibility=window;chunk=4"}),
                 "expected chunk=1");
  expect_refused(run({"record", "--model", model_, "--text", text_}), "expected -o FILE");
  expect_refused(run({"generate", "--model", model_, "--temperature", "hot"}), "--temperature");
  expect_refused(run({"generate", "--model", model_, "--prompt", "a\xFF"}),
                 "--prompt: the text is not UTF-8 at byte 1");
}

TEST_F(ModelCommands, RefuseTextThatCannotBePredicted) {
  const auto with = [&](std::string_view text) {
    return run({"eval", "--model", model_, "--text", test::temporary_file("t.txt", text)});
  };
  expect_refused(with(""), "the text is empty");
  expect_refused(with("a\xC3(\n"), "the text is not UTF-8 at byte 1");
}

TEST_F(ModelCommands, RefuseATokenizerThatIsTooLarge) {
  const std::string small = test::small_llama().write("too-small");
  test::write_into(small, "tokenizer.json", test::small_tokenizer_json());
  expect_refused(run({"eval", "--model", small, "--text", text_}),
                 "the tokenizer has 258 tokens and the model 32");
}

TEST_F(ModelCommands, GenerateIsTheSameForTheSameSeed) {
  const auto written = [&](const std::string& seed) {
    return run(
        {"generate", "--model", model_, "--prompt", "abc", "--tokens", "20", "--seed", seed});
  };
  const Ran one = written("1");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_TRUE(one.out.starts_with("abc")) << one.out;
  EXPECT_EQ(written("1").out, one.out);
  EXPECT_NE(written("2").out, one.out);
}

TEST_F(ModelCommands, GenerateKeepsNumbersApart) {
  const Ran ran = run(
      {"generate", "--model", model_, "--ids", "--no-begin", "--prompt", "1 2 3", "--tokens", "4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("1 2 3 ")) << ran.out;
  EXPECT_EQ(std::ranges::count(ran.out, ' '), 7) << ran.out;
}

TEST_F(ModelCommands, GenerateTellsOfAConstantCache) {
  const Ran ran = run({"generate", "--model", model_, "--tokens", "30", "--policy",
                       "streaming:sinks=1,recent=7", "--trace-cache", "--temperature", "0"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("after 1 tokens, "));
  EXPECT_THAT(ran.err, HasSubstr("\n  layer 0 head 0 to layer 1 head 3: keys and values "
                                 "[4, 8, 4], residents 0, 23-29\n"));
  // The last token is not read any more.
  EXPECT_THAT(ran.err, Not(HasSubstr("after 31 tokens")));
}

TEST_F(ModelCommands, GenerateTellsUnitsApart) {
  const Ran ran = run({"generate", "--model", model_, "--tokens", "20", "--policy",
                       "streaming:sinks=1,recent=7;budgets=retrieval:0.1", "--trace-cache"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("layer 0 head 2 to layer 0 head 3: keys and values "
                                 "[1, 20, 4], residents 0-19\n"));
  EXPECT_THAT(ran.err, HasSubstr("layer 1 head 0 to layer 1 head 3: keys and values "
                                 "[2, 8, 4], residents 0, 13-19\n"));
}

TEST_F(ModelCommands, SayWhichPolicyCannotBe) {
  // The other thread is asked to stop, which is no error.
  expect_refused(eval({"--threads", "2", "--keys", "raw", "--policy", "dense", "--policy",
                       "h2o;positions=shifted", "--budget", "8"}),
                 "positions=shifted rotates stored keys, and raw ones carry no rotation");
  expect_refused(eval({"--policy", "streaming:sinks=300,recent=4"}), "more than the 300 sinks");
}

TEST_F(ModelCommands, RefuseLogitsThatAreNoNumbers) {
  std::string weights = test::bytes_of_file(model_ + "/model.safetensors");
  const std::string nan("\x00\x00\xc0\x7f", 4);
  for (std::size_t at = weights.size() - 64; at < weights.size(); at += 4) {
    weights.replace(at, 4, nan);
  }
  test::write_into(model_, "model.safetensors", weights);
  expect_refused(eval({"--policy", "dense"}), "the model's logits are no finite numbers");
  const Ran ran = run({"generate", "--model", model_, "--prompt", "abc"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "abc\n");
  EXPECT_THAT(ran.err, HasSubstr("the model's logits are no finite numbers"));
  const std::string trace = test::temporary_path("nan.safetensors");
  for (const char* kind : {"qkv", "attention"}) {
    expect_refused(run({"record", "--model", model_, "--text", text_, "-o", trace, "--tokens", "24",
                        "--kind", kind}),
                   "/model.safetensors' has nan in ");
    EXPECT_FALSE(std::filesystem::exists(trace));
  }
}

TEST_F(ModelCommands, OnePolicyHasOneBudget) {
  for (const std::string policy : {"dense", "window"}) {
    expect_refused(run({"generate", "--model", model_, "--policy", policy, "--budget", "3,4"}),
                   "several budgets are given; expected one");
  }
  expect_refused(run({"generate", "--model", model_, "--budget", "8"}),
                 "--budget has nothing to bound: dense evicts nothing");
  expect_refused(run({"eval", "--model", model_, "--text", model_, "--budget", "8"}),
                 "--budget has nothing to bound: dense evicts nothing");
}

}  // namespace
}  // namespace kv

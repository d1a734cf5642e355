// A GGUF file under the commands that run a model, with its own tokenizer.
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/gguf_models.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;

class GgufCommands : public model::NumpyTest {
 protected:
  void SetUp() override {
    NumpyTest::SetUp();
    if (IsSkipped()) return;
    gguf_ = test::write_gguf(test::wide_llama(258), "Q4_K", "{}", test::small_tokenizer_json());
    test::write_into(gguf_.folder, "tokenizer.json", test::small_tokenizer_json());
  }

  test::SmallGguf gguf_;
  std::string text_ = test::temporary_file("text.txt", "abcab abc cab abba cabac abc abc");
};

TEST_F(GgufCommands, EvalReadsTextAndAgreesWithTheSameWeightsInADirectory) {
  const auto eval = [&](const std::string& model, const std::string& threads) {
    return run({"eval", "--model", model, "--text", text_, "--policy", "dense", "--policy",
                "streaming:sinks=2", "--budget", "8", "--threads", threads, "--json", "-", "-q"});
  };
  const Ran file = eval(gguf_.file, "1");
  ASSERT_EQ(file.status, 0) << file.err;
  EXPECT_EQ(eval(gguf_.file, "3").out, file.out);
  const Ran folder = eval(gguf_.folder, "1");
  ASSERT_EQ(folder.status, 0) << folder.err;
  const auto perplexity = [](const std::string& json) {
    const std::size_t at = json.find("\"perplexity\":") + 13;
    return std::stod(json.substr(at));
  };
  EXPECT_NEAR(perplexity(file.out), perplexity(folder.out), 1e-4 * perplexity(folder.out));
  EXPECT_THAT(file.out, HasSubstr("\"tokens\":20"));
}

TEST_F(GgufCommands, GenerateRecordAndSpeedRun) {
  const Ran text = run({"generate", "--model", gguf_.file, "--prompt", "abc ab", "--tokens", "8",
                        "--policy", "streaming:sinks=1", "--budget", "6"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("abc ab"));
  const std::string trace = test::temporary_path("gguf.qkv.safetensors");
  const Ran recorded =
      run({"record", "--model", gguf_.file, "--text", text_, "--tokens", "16", "-o", trace, "-q"});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  const auto opened = open_trace(trace);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->info().rope.layout, RopeLayout::interleaved);
  const Ran timed =
      run({"speed", "--model", gguf_.file, "--policy", "dense", "--length", "16", "-q"});
  EXPECT_EQ(timed.status, 0) << timed.err;
}

TEST_F(GgufCommands, OtherWeightsAreMadeOfTheBlocks) {
  for (const std::string weights : {"f32", "int8", "nf4"}) {
    const Ran ran = run({"eval", "--model", gguf_.file, "--weights", weights, "--text", text_,
                         "--policy", "dense", "--json", "-", "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
}

// What is wrong ends with one sentence that names the file and the entry, and status 2.
TEST_F(GgufCommands, WrongFilesAreOneSentence) {
  const auto said = [&](const std::string& metadata) {
    const test::SmallGguf wrong = test::write_gguf(test::wide_llama(), "F16", metadata);
    const Ran ran = run({"eval", "--model", wrong.file, "--ids", "--text", text_});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(ran.out.empty());
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("model.gguf'"));
    return ran.err;
  };
  EXPECT_THAT(said(R"({"llama.mixture":2})"), HasSubstr("'llama.mixture' = 2"));
  EXPECT_THAT(said(R"({"llama.block_count":3})"), HasSubstr("no tensor 'blk.2.attn_norm.weight'"));
  EXPECT_THAT(said(R"({"llama.block_count":1})"), HasSubstr("a tensor 'blk.1.attn_k.weight'"));
  EXPECT_THAT(said(R"({"llama.block_count":60000})"), HasSubstr("60000 layers and 21 tensors"));
  EXPECT_THAT(said(R"({"llama.block_count":4000000000})"), HasSubstr("a count below 2^31"));
  EXPECT_THAT(said(R"({"llama.block_count":"two"})"), HasSubstr("'llama.block_count' = the text"));
  EXPECT_THAT(said(R"({"llama.embedding_length":128})"),
              HasSubstr("'llama.rope.dimension_count' = 64; expected 32"));
  EXPECT_THAT(said(R"({"general.architecture":"llamb"})"), HasSubstr("did you mean 'llama'"));
  EXPECT_THAT(said(R"({"general.architecture":"qwen2"})"),
              HasSubstr("no metadata entry 'qwen2.embedding_length'"));
  EXPECT_THAT(said(R"({"general.type":"adapter"})"), HasSubstr("'general.type' = 'adapter'"));
  EXPECT_THAT(said(R"({"split.count":2})"), HasSubstr("one part of a model in several files"));
  EXPECT_THAT(said(R"({"llama.expert_count":8})"), HasSubstr("'llama.expert_count' = 8"));
  EXPECT_THAT(said(R"({"llama.vocab_size":33})"), HasSubstr("'llama.vocab_size' = 33"));
  EXPECT_THAT(said(R"({"llama.rope.dimension_count":32})"),
              HasSubstr("'llama.rope.dimension_count' = 32; expected 64"));
  EXPECT_THAT(said(R"({"llama.rope.scaling.type":"ntk"})"), HasSubstr("type of rotation 'ntk'"));
  EXPECT_THAT(said(R"({"llama.rope.scaling.attn_factor":1.5})"),
              HasSubstr("'llama.rope.scaling.attn_factor' = 1.5"));
  EXPECT_THAT(said(R"({"tokenizer.ggml.bos_token_id":32})"),
              HasSubstr("'tokenizer.ggml.bos_token_id' = 32; expected less than the 32 rows"));
}

}  // namespace
}  // namespace kv

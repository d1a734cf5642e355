// The decoder's dense logits against PyTorch (tests/model/reference_torch.py): three architectures
// with random weights, and trained ones where they are. forward_test.cpp has policies, positions
// and storages against a reference that spells every formula out.
#include <cstdlib>
#include <filesystem>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

// Debian's PyTorch belongs to Debian's interpreter, which need not be the first in the path.
std::string python_with_torch() {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (std::system((std::string(candidate) + " -c 'import torch' >/dev/null 2>&1").c_str()) == 0) {
      return candidate;
    }
  }
  return {};
}

class Torch : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string found = python_with_torch();
    if (found.empty()) GTEST_SKIP() << "there is no PyTorch here (Debian: python3-torch)";
    python_ = found;
  }

  // Whether PyTorch finds the decoder's logits for the tokens, up to `bound` of the largest. With
  // `lie` it is shown those of a model that never heard the first token.
  [[nodiscard]] bool agrees(const std::string& path,
                            const std::vector<TokenId>& tokens,
                            double bound,
                            bool lie = false) const {
    const LanguageModel model = open_model(path).value();
    Decoder decoder = Decoder::create(model, parse_spec("dense;chunk=9").value()).value();
    std::vector<TokenId> heard = tokens;
    if (lie) heard[0] ^= 1;
    std::string logits;
    std::string text;
    for (const TokenId token : tokens) text += std::to_string(token) + " ";
    for (std::size_t at = 0; at < heard.size(); at += 9) {
      const std::size_t size = std::min<std::size_t>(9, heard.size() - at);
      EXPECT_TRUE(decoder.feed(std::span(heard).subspan(at, size)));
      const auto bytes = std::as_bytes(decoder.logits());
      logits.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    const std::string folder = test::fresh_folder("torch-case");
    test::write_into(folder, "tokens.txt", text);
    test::write_into(folder, "logits.bin", logits);
    std::string command = python_ + " " KVCHECK_SOURCE_DIR "/tests/model/reference_torch.py ";
    command += path + " " + folder + "/tokens.txt " + folder + "/logits.bin ";
    command += std::to_string(bound);
    if (lie) command += " 2>/dev/null";
    return std::system(command.c_str()) == 0;
  }

  // Numbers from 1 to `largest`, in no order that repeats soon.
  static std::vector<TokenId> tokens(std::size_t count, TokenId largest) {
    std::vector<TokenId> out;
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(static_cast<TokenId>(i * i * 7 % static_cast<std::size_t>(largest) + 1));
    }
    return out;
  }

 private:
  std::string python_;
};

TEST_F(Torch, AgreesOnLlama) {
  EXPECT_TRUE(agrees(test::small_llama().write("torch-llama"), tokens(40, 31), 2e-5));
}

TEST_F(Torch, AgreesOnQwen2) {
  EXPECT_TRUE(agrees(test::small_qwen2().write("torch-qwen2"), tokens(40, 31), 2e-5));
}

TEST_F(Torch, AgreesOnGptNeox) {
  const std::string path = test::small_gpt_neox().write("torch-neox");
  EXPECT_TRUE(agrees(path, tokens(40, 31), 2e-5));
  EXPECT_FALSE(agrees(path, tokens(40, 31), 2e-5, true));
}

TEST_F(Torch, AgreesOnGpt2) {
  EXPECT_TRUE(agrees(test::small_gpt2().write("torch-gpt2"), tokens(40, 31), 2e-5));
}

TEST_F(Torch, AgreesOnTheBundledModel) {
  EXPECT_TRUE(agrees(KVCHECK_SOURCE_DIR "/model/data", tokens(200, 259), 1e-4));
}

TEST_F(Torch, AgreesOnStories260K) {
  const std::string path = test::shared_data("stories260K/stories260K.bin");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  EXPECT_TRUE(agrees(path, tokens(300, 511), 1e-4));
}

}  // namespace
}  // namespace kv::model

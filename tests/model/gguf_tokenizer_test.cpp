// Tokenizers in GGUF files give the tokens of the tokenizer.json of the same vocabulary.
#include <sstream>

#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/tokenizer/gguf_rules.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/gguf_bytes.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using test::GgufBytes;
using testing::HasSubstr;

class GgufTokenizers : public NumpyTest {};

std::vector<std::string> strings_of(const std::string& folder) {
  std::vector<std::string> strings;
  std::istringstream lines(test::bytes_of_file(folder + "/strings.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    strings.push_back(bytes);
  }
  return strings;
}

// Six kinds, 60 random strings of each of eighteen scripts.
TEST_F(GgufTokenizers, GiveTheTokensOfTokenizerJson) {
  const std::string folder = test::fresh_folder("gguf-tokenizers");
  ASSERT_TRUE(run_python("tokenizer_kinds.py", folder + " 60"));
  ASSERT_TRUE(run_python("gguf_tokenizers.py", folder));
  const std::vector<std::string> strings = strings_of(folder);
  ASSERT_GT(strings.size(), 1000U);
  for (const std::string kind : {"gpt2", "llama3", "smollm", "qwen2", "llama2", "gemma"}) {
    const auto expected = open_tokenizer(folder + "/" + kind, "", 1 << 16);
    const auto found = open_tokenizer(folder + "/" + kind + "/model.gguf", "", 1 << 16);
    ASSERT_TRUE(expected) << expected.error().message;
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ((*found)->vocabulary(), (*expected)->vocabulary());
    std::size_t joined = 0;
    for (const std::string& text : strings) {
      const auto tokens = (*found)->encode(text);
      ASSERT_TRUE(tokens) << tokens.error().message;
      ASSERT_EQ(*tokens, (*expected)->encode(text).value()) << kind << ": " << text;
      if (tokens->size() < text.size()) ++joined;
      // Not where a text changes: by NFC, by the blank's stand-in, or by a blank after a special
      // token.
      const bool changes =
          text.find('<') != std::string::npos || text.find("▁") != std::string::npos;
      if (kind != "qwen2" && !changes) {
        EXPECT_EQ((*found)->decode(*tokens).value(), text) << kind;
      }
    }
    EXPECT_GT(joined, 100U) << kind;  // merges happened
  }
}

// A tokenizer of these entries; lists have the texts given.
class Metadata {
 public:
  Metadata& word(std::string_view key, std::string_view value) {
    entries_.text(key).put<std::uint32_t>(8).text(value);
    return counted();
  }

  Metadata& words(std::string_view key, const std::vector<std::string>& values) {
    entries_.text(key).put<std::uint32_t>(9).put<std::uint32_t>(8);
    entries_.put<std::uint64_t>(values.size());
    for (const std::string& value : values) entries_.text(value);
    return counted();
  }

  template <typename T>
  Metadata& numbers(std::string_view key, std::uint32_t type, const std::vector<T>& values) {
    entries_.text(key).put<std::uint32_t>(9).put(type).template put<std::uint64_t>(values.size());
    for (const T value : values) entries_.put(value);
    return counted();
  }

  Metadata& flag(std::string_view key, std::uint8_t value) {
    entries_.text(key).put<std::uint32_t>(7).put(value);
    return counted();
  }

  [[nodiscard]] std::string opened() const {
    const std::string bytes = GgufBytes().header(0, count_).bytes() + entries_.bytes();
    const auto tokenizer = open_tokenizer(test::temporary_file("t.gguf", bytes), "", 1 << 16);
    return tokenizer ? "no error" : tokenizer.error().message;
  }

 private:
  Metadata& counted() {
    ++count_;
    return *this;
  }

  GgufBytes entries_;
  std::uint64_t count_ = 0;
};

Metadata characters() {
  return Metadata()
      .word("tokenizer.ggml.model", "llama")
      .words("tokenizer.ggml.tokens", {"<unk>", "a", "b", "ab"});
}

TEST(GgufTokenizer, WhatIsNotObeyedIsRefused) {
  const std::vector<float> scores = {0, -2, -3, -1};
  const std::string key = "tokenizer.ggml.";
  EXPECT_EQ(characters().numbers(key + "scores", 6, scores).opened(), "no error");
  EXPECT_THAT(characters().opened(), HasSubstr("t.gguf' has no 'tokenizer.ggml.scores'"));
  EXPECT_THAT(characters().numbers(key + "scores", 6, std::vector<float>{1, 2}).opened(),
              HasSubstr("2 values in 'tokenizer.ggml.scores'; expected 4, one for each token"));
  EXPECT_THAT(
      characters().numbers(key + "scores", 6, std::vector<float>{0, 0, 0, INFINITY}).opened(),
      HasSubstr("expected at most 512 bytes and a finite score"));
  EXPECT_THAT(characters()
                  .numbers(key + "scores", 6, scores)
                  .numbers(key + "token_type", 5, std::vector<std::int32_t>{1, 1, 7, 1})
                  .opened(),
              HasSubstr("the type 7 for token 2 in 'tokenizer.ggml.token_type'"));
  const auto with = [&](const std::string& name, std::uint8_t value) {
    return characters().numbers(key + "scores", 6, scores).flag(name, value).opened();
  };
  EXPECT_THAT(with(key + "remove_extra_whitespaces", 1),
              HasSubstr("'tokenizer.ggml.remove_extra_whitespaces' = true; expected false"));
  EXPECT_THAT(
      with(key + "precompiled_charsmap", 1),
      HasSubstr("'tokenizer.ggml.precompiled_charsmap' = true, which kvcheck does not know"));
  EXPECT_THAT(with(key + "add_space_prefix", 7), HasSubstr("neither 0 nor 1; expected a flag"));
  EXPECT_THAT(Metadata().opened(), HasSubstr("has no 'tokenizer.ggml.model'"));
  EXPECT_THAT(Metadata().word(key + "model", "bert").opened(),
              HasSubstr("an unknown tokenizer 'bert' (there are gpt2, llama)"));
  const auto bytes = [&](const std::string& pre) {
    return Metadata()
        .word(key + "model", "gpt2")
        .words(key + "tokens", {"a"})
        .word(key + "pre", pre);
  };
  EXPECT_THAT(bytes("default").words(key + "merges", {}).opened(),
              HasSubstr("'tokenizer.ggml.pre' of an unknown pre-tokenizer 'default'"));
  EXPECT_THAT(bytes("gpt-2").opened(), HasSubstr("no 'tokenizer.ggml.merges'"));
  EXPECT_THAT(bytes("gpt-2").words(key + "merges", {"a b"}).opened(),
              HasSubstr("merge 0 with 'b', which is not in the vocabulary"));
  EXPECT_THAT(bytes("gpt-2").words(key + "merges", {}).opened(), HasSubstr("no token for byte 0"));
  EXPECT_THAT(Metadata().word(key + "model", "llama").words(key + "tokens", {"a", "a"}).opened(),
              HasSubstr("the token 'a' twice"));
  EXPECT_THAT(Metadata().word(key + "model", "llama").words(key + "tokens", {"a\xC3"}).opened(),
              HasSubstr("token 0 that is not UTF-8"));
}

}  // namespace
}  // namespace kv::model

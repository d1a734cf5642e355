// The rules of tokenizer.json against an independent implementation in Python
// (tests/model/reference_tokenizer.py), and what is refused.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

class BpeRulesFromPython : public NumpyTest {};

std::string of_hexadecimal(const std::string& line) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

bool runs(const std::string& script, const std::string& arguments) {
  const std::string command =
      "python3 " KVCHECK_SOURCE_DIR "/tests/model/" + script + " " + arguments;
  return std::system(command.c_str()) == 0;
}

// Writes the token numbers of every string by every tokenizer in the folder; with `change`, one
// more token after the last string of the first.
void encode_all(const std::string& folder, bool change = false) {
  std::vector<std::string> strings;
  std::istringstream lines(test::bytes_of_file(folder + "/strings.txt"));
  for (std::string line; std::getline(lines, line);) strings.push_back(of_hexadecimal(line));
  ASSERT_GT(strings.size(), 100U);
  for (const auto& kind : std::filesystem::directory_iterator(folder)) {
    if (!kind.is_directory()) continue;
    const auto tokenizer = open_tokenizer(kind.path().string(), "", 1 << 20);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    std::ofstream ids(kind.path().string() + "/ids.txt");
    for (const std::string& text : strings) {
      const auto tokens = (*tokenizer)->encode(text);
      ASSERT_TRUE(tokens) << tokens.error().message;
      for (const TokenId token : *tokens) ids << token << ' ';
      if (change && &text == &strings.back()) ids << 7;
      ids << '\n';
    }
  }
}

// Sixteen kinds of rules, 900 random strings of each of eighteen scripts; nightly takes 10,000.
TEST_F(BpeRulesFromPython, GiveTheSameTokens) {
  const std::string folder = test::fresh_folder("tokenizers");
  const char* const given = std::getenv("KVCHECK_STRINGS");
  const std::string strings = given == nullptr ? "900" : given;
  ASSERT_TRUE(runs("tokenizer_kinds.py", folder + " " + strings));
  ASSERT_NO_FATAL_FAILURE(encode_all(folder));
  EXPECT_TRUE(runs("reference_tokenizer.py", folder));
}

// The kinds that docs/model.md names in its table of families.
TEST_F(BpeRulesFromPython, HaveTheKindsOfAllFamilies) {
  const std::string folder = test::fresh_folder("tokenizers");
  ASSERT_TRUE(runs("tokenizer_kinds.py", folder + " 40"));
  std::istringstream lines(test::bytes_of_file(KVCHECK_SOURCE_DIR "/docs/model.md"));
  std::size_t rows = 0;
  std::size_t column = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() < 4) column = 0;
    if (line.starts_with("| `model_type` | weights | tokenizer |")) column = 3;
    if (column == 0 || !cells[1].starts_with(" `") || cells[1] == " `model_type` ") continue;
    ++rows;
    const std::vector<std::string_view> words = split(cells[column], '`');
    EXPECT_GE(words.size(), 3U) << line;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      EXPECT_TRUE(std::filesystem::exists(folder + "/" + std::string(words[i]))) << words[i];
    }
  }
  EXPECT_EQ(rows, 15U);
}

TEST_F(BpeRulesFromPython, WouldFindOneTokenTooMany) {
  const std::string folder = test::fresh_folder("tokenizers");
  ASSERT_TRUE(runs("tokenizer_kinds.py", folder + " 10"));
  ASSERT_NO_FATAL_FAILURE(encode_all(folder, true));
  EXPECT_FALSE(runs("reference_tokenizer.py", folder + " 2>/dev/null"));
}

// Writes what ./dev tokenizers compares with Hugging Face's own library.
TEST(PublishedTokenizers, AreOpenedAndEncodeAllStrings) {
  const char* const folder = std::getenv("KVCHECK_TOKENIZERS");
  if (folder == nullptr) GTEST_SKIP() << "./dev tokenizers fetches them";
  encode_all(folder);
}

// A vocabulary of characters with bytes to fall back to; `rest` is put between its entries.
std::string characters_json(const std::string& rest, const std::string& more = "") {
  std::string vocabulary = R"("<unk>":0,"<s>":1)";
  std::size_t next = 2;
  for (const std::string text : {"▁", "a", "b", "▁a", "ab"}) {
    vocabulary += ",\"" + text + "\":" + std::to_string(next++);
  }
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (std::size_t byte = 0; byte < 256; ++byte) {
    vocabulary += std::string(",\"<0x") + digits[byte / 16] + digits[byte % 16] +
                  ">\":" + std::to_string(next++);
  }
  return R"({"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{)" +
         vocabulary + R"(},"merges":["▁ a","a b"])" + more + "}" + rest + "}";
}

const std::string llama2_rules =
    R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
    R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,)"
    R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},)"
    R"("content":" "},{"type":"ByteFallback"},{"type":"Fuse"},)"
    R"({"type":"Strip","content":" ","start":1,"stop":0}]},)"
    R"("added_tokens":[{"id":1,"content":"<s>","special":true,"normalized":false}])";

Result<std::unique_ptr<Tokenizer>> opened(const std::string& json) {
  return open_tokenizer("model", test::temporary_file("tokenizer.json", json), 1 << 16);
}

std::string error_of(const std::string& json) {
  const auto made = opened(json);
  return made ? "opened" : made.error().message;
}

TEST(BpeRules, CharactersFallBackToBytesAndDecodeToTheText) {
  const auto tokenizer = opened(characters_json(llama2_rules)).value();
  // "▁a" has the lowest rank, so no "ab" is left; é is two bytes, each 7 behind its number.
  const auto tokens = tokenizer->encode("ab é").value();
  EXPECT_THAT(tokens, testing::ElementsAre(5, 4, 2, 0xC3 + 7, 0xA9 + 7));
  for (const std::string text : {"ab é", " a  b", "東京\n\xF0\x9F\x98\x80", "", "  "}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text).value()).value(), text);
  }
}

TEST(BpeRules, WhatIsNotObeyedIsRefused) {
  const auto with = [](const std::string& rest, const std::string& more = "") {
    return error_of(characters_json(rest, more));
  };
  EXPECT_EQ(with(""), "opened");
  EXPECT_THAT(
      with(R"(,"pre_tokenizer":{"type":"Whitespace"})"),
      HasSubstr("pre-tokenizer 'Whitespace'; expected Split, Digits, Metaspace, ByteLevel"));
  EXPECT_THAT(with(R"(,"pre_tokenizer":{"type":"Digits","individual_digits":true,"new":1})"),
              HasSubstr("has a further entry 'new: 1'; expected only entries that kvcheck obeys"));
  EXPECT_THAT(with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},)"
                   R"("behavior":"Isolated","invert":true})"),
              HasSubstr("expected a Split by a Regex or String that is not inverted"));
  EXPECT_THAT(with(R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":)"
                   R"([{"type":"ByteLevel"},{"type":"Digits"}]})"),
              HasSubstr("expected nothing after ByteLevel"));
  EXPECT_THAT(with(R"(,"normalizer":{"type":"Lowercase"})"),
              HasSubstr("normalizer 'Lowercase'; expected NFC, Prepend, Replace"));
  EXPECT_THAT(with(R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"a"},"content":""})"),
              HasSubstr("expected a Replace of a String"));
  EXPECT_THAT(with(R"(,"decoder":{"type":"WordPiece"})"), HasSubstr("decoder 'WordPiece'"));
  EXPECT_THAT(with("", R"(,"dropout":0.1)"), HasSubstr("model with dropout"));
  EXPECT_THAT(with(R"(,"pre_tokenizer":{"type":"Digits","individual_digits":"yes"})"),
              HasSubstr(R"(has 'individual_digits' = '\"yes\"'; expected true or false)"));
  EXPECT_THAT(with("", R"(,"fuse_unk":1)"), HasSubstr("has 'fuse_unk' = '1'; expected true or"));
  EXPECT_THAT(with(R"(,"normalizer":{"type":"Prepend","prepend":5})"),
              HasSubstr("has 'prepend' = '5'; expected a text"));
  EXPECT_THAT(with(R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","invert":false,)"
                   R"("pattern":{"String":"a","Regex":"b"}})"),
              HasSubstr("expected one String or one Regex"));
  EXPECT_THAT(with(R"(,"version":"2.0")"), HasSubstr("version '2.0'; expected 1.0"));
  EXPECT_THAT(with("", R"(,"continuing_subword_prefix":"##")"), HasSubstr("'##'; expected none"));
  EXPECT_THAT(with("", R"(,"cache":1)"), HasSubstr("further entry 'cache: 1'"));
  EXPECT_THAT(with(R"(,"added_tokens":[{"id":1,"content":"<s>","single_word":true}])"),
              HasSubstr("added token with 'single_word'"));
}

TEST(BpeRules, ACharacterWithoutAnyTokenIsAnError) {
  const std::string json =
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"pre_tokenizer":null})";
  const auto tokenizer = opened(json).value();
  EXPECT_THAT(tokenizer->encode("aa").value(), testing::ElementsAre(0, 0));
  EXPECT_EQ(tokenizer->encode("ab").error().message,
            "the tokenizer has no token for the character 'b'");
  // The bytes of é are C3 A9, those of è are C3 A8.
  const auto bytes = opened(R"({"model":{"type":"BPE","byte_fallback":true,"vocab":)"
                            R"({"a":0,"<0xC3>":1,"<0xA9>":2},"merges":[]}})")
                         .value();
  EXPECT_THAT(bytes->encode("é").value(), testing::ElementsAre(1, 2));
  EXPECT_EQ(bytes->encode("è").error().message, "the tokenizer has no token for the character 'è'");
}

}  // namespace
}  // namespace kv::model

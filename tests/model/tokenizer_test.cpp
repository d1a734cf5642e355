// Tokenizers: known encodings, round trips, and what is wrong with text or files.
#include "kvcheck/model/tokenizer/tokenizer.h"

#include <filesystem>

#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {
namespace {

using namespace testing;

using Opened = Result<std::unique_ptr<Tokenizer>>;

constexpr std::size_t any_vocabulary = 512;

std::vector<TokenId> encoded(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text).value();
}

std::string error_of(const Opened& opened) {
  return opened ? "opened" : opened.error().message;
}

// Everything that a tokenizer must give back unchanged.
const std::vector<std::string> texts = {
    "Hello, world! I'm  here.",
    "  two blanks\n\n\tand a tab \n",
    "naïve café Ωμέγα 12345 ½ 東京 \xF0\x9F\x8C\x8D",
    "a\xC2\xA0no-break blank",
    "x",
    "",
};

class SharedTokenizer : public TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    path_ = test::shared_data(GetParam().first);
    if (!std::filesystem::exists(path_)) GTEST_SKIP() << "no tokenizer at " << path_;
    const std::string given = GetParam().second.empty() ? "" : path_ + GetParam().second;
    tokenizer_ = open_tokenizer(path_, given, any_vocabulary).value();
  }

  std::string path_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(SharedTokenizer, GivesTextBack) {
  for (const std::string& text : texts) {
    EXPECT_EQ(tokenizer_->decode(encoded(*tokenizer_, text)).value(), text);
  }
}

TEST_P(SharedTokenizer, GivesAFrankensteinBack) {
  const std::string text = test::bytes_of_file(test::shared_data("texts/frankenstein.txt"));
  ASSERT_GT(text.size(), 400000U);
  EXPECT_EQ(tokenizer_->decode(encoded(*tokenizer_, text)).value(), text);
}

TEST_P(SharedTokenizer, RefusesWhatIsNotUtf8) {
  for (const std::string text : {"ab\xFFz", "ab\xC3", "ab\xED\xA0\x80"}) {
    const auto tokens = tokenizer_->encode(text);
    ASSERT_FALSE(tokens);
    EXPECT_EQ(tokens.error().message, "the text is not UTF-8 at byte 2");
  }
}

TEST_P(SharedTokenizer, RefusesTokensThatAreNone) {
  const auto text = tokenizer_->decode(std::vector<TokenId>{5, 1000000});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("token 1000000 is out of range; expected 0 to"));
}

INSTANTIATE_TEST_SUITE_P(Files,
                         SharedTokenizer,
                         Values(std::pair("tokenizer-gpt2", ""),
                                std::pair("tokenizer-gptneox", ""),
                                std::pair("stories260K", "/tok512.bin")));

TEST(Tokenizer, Gpt2EncodesAsPublished) {
  const std::string path = test::shared_data("tokenizer-gpt2");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no tokenizer at " << path;
  const auto tokenizer = open_tokenizer(path, "", any_vocabulary).value();
  EXPECT_EQ(tokenizer->vocabulary(), 50257U);
  EXPECT_THAT(encoded(*tokenizer, "Hello, world!"), ElementsAre(15496, 11, 995, 0));
  EXPECT_THAT(encoded(*tokenizer, "a<|endoftext|>b"), ElementsAre(64, 50256, 65));
  // A blank belongs to the word after it; the last of several does.
  EXPECT_THAT(encoded(*tokenizer, "  a"), ElementsAre(220, 257));
  EXPECT_THAT(encoded(*tokenizer, " a  "), ElementsAre(257, 220, 220));
}

TEST(Tokenizer, GptNeoxEncodesAsPublished) {
  const std::string path = test::shared_data("tokenizer-gptneox");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no tokenizer at " << path;
  const auto tokenizer = open_tokenizer(path, "", any_vocabulary).value();
  EXPECT_THAT(encoded(*tokenizer, "Hello, world!"), ElementsAre(12092, 13, 1533, 2));
  EXPECT_THAT(encoded(*tokenizer, "<|endoftext|>"), ElementsAre(0));
  // Runs of blanks are tokens of their own, the longest first; text is composed (NFC).
  EXPECT_THAT(encoded(*tokenizer, std::string(24, ' ')), ElementsAre(50254));
  EXPECT_EQ(encoded(*tokenizer, "e\xCC\x81"), encoded(*tokenizer, "\xC3\xA9"));
}

TEST(Tokenizer, Llama2cEncodesWhatTheTraceWasRecordedFrom) {
  const std::string path = test::shared_data("stories260K/tok512.bin");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no tokenizer at " << path;
  const auto tokenizer = open_tokenizer("x.bin", path, 512).value();
  const Trace trace = open_trace(test::shared_data("recorded/stories260k.qkv.safetensors")).value();
  const auto ids = trace.token_ids();
  const std::size_t story =
      static_cast<std::size_t>(std::ranges::find(ids.subspan(1), 1) - ids.subspan(1).begin());
  ASSERT_GT(story, 50U);
  const std::vector<TokenId> first(ids.begin() + 1, ids.begin() + 1 + static_cast<int>(story));
  EXPECT_EQ(encoded(*tokenizer, tokenizer->decode(first).value()), first);
}

TEST(Tokenizer, LiesBesideALlama2cCheckpoint) {
  const std::string good = test::shared_data("stories260K/tok512.bin");
  if (!std::filesystem::exists(good)) GTEST_SKIP() << "no tokenizer at " << good;
  const std::filesystem::path folder = test::temporary_path("checkpoint");
  std::filesystem::create_directory(folder);
  const std::string checkpoint = folder / "stories.bin";
  EXPECT_THAT(error_of(open_tokenizer(checkpoint, "", 512)),
              HasSubstr("neither tok512.bin nor tokenizer.bin lies beside the checkpoint"));
  std::filesystem::copy_file(good, folder / "tokenizer.bin");
  EXPECT_EQ(open_tokenizer(checkpoint, "", 512).value()->vocabulary(), 512U);
  // The file named after the vocabulary's size takes precedence.
  std::filesystem::rename(folder / "tokenizer.bin", folder / "tok512.bin");
  std::filesystem::copy_file(test::temporary_file("tok.bin", "none"), folder / "tokenizer.bin");
  EXPECT_EQ(open_tokenizer(checkpoint, "", 512).value()->vocabulary(), 512U);
}

TEST(Tokenizer, RefusesABrokenLlama2cFile) {
  const std::string good = test::shared_data("stories260K/tok512.bin");
  if (!std::filesystem::exists(good)) GTEST_SKIP() << "no tokenizer at " << good;
  const std::string bytes = test::bytes_of_file(good);
  const auto error = [&](const std::string& content, std::size_t vocabulary) {
    return error_of(open_tokenizer("x.bin", test::temporary_file("tok.bin", content), vocabulary));
  };
  EXPECT_THAT(error("", 512), HasSubstr("ends or breaks after 0 tokens; expected the model's 512"));
  EXPECT_THAT(error(bytes.substr(0, 6000), 512), HasSubstr("ends or breaks after"));
  EXPECT_THAT(error(bytes, 513), HasSubstr("ends or breaks after 512 tokens"));
  EXPECT_THAT(error(bytes, 500), HasSubstr("bytes after the 500 tokens of the model"));
  EXPECT_THAT(error_of(open_tokenizer("x.bin", "", 512)), HasSubstr("expected --tokenizer FILE"));
}

Opened open_json(const std::string& json) {
  return open_tokenizer("x", test::temporary_file("tokenizer.json", json), any_vocabulary);
}

std::string json_error(std::string_view from, std::string_view to) {
  std::string json = test::small_tokenizer_json(R"("added_tokens":[{"content":"<s>","id":258}],)");
  const std::size_t at = json.find(from);
  if (at == std::string::npos) return "no such text";
  return error_of(open_json(json.replace(at, from.size(), to)));
}

TEST(Tokenizer, MergesByRankAndReadsBothFormsOfMerges) {
  const auto tokenizer = open_json(test::small_tokenizer_json()).value();
  EXPECT_THAT(encoded(*tokenizer, "abcab"), ElementsAre(257, 256));
  EXPECT_EQ(tokenizer->vocabulary(), 258U);
}

TEST(Tokenizer, SplitsByAPatternOfItsOwn) {
  std::string json = test::small_tokenizer_json();
  const std::string from = R"({"type":"ByteLevel","add_prefix_space":false})";
  json.replace(json.find(from), from.size(),
               R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"b"},)"
               R"("behavior":"Isolated","invert":false},{"type":"ByteLevel","use_regex":false}]})");
  const auto tokenizer = open_json(json).value();
  EXPECT_EQ(encoded(*tokenizer, "ab").size(), 2U);  // "a" and "b" are words apart
}

TEST(Tokenizer, APatternThatBacktracksForEverIsAnError) {
  std::string json = test::small_tokenizer_json();
  const std::string from = R"({"type":"ByteLevel","add_prefix_space":false})";
  json.replace(json.find(from), from.size(),
               R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)"
               R"("(a+)+$"},"behavior":"Isolated","invert":false},)"
               R"({"type":"ByteLevel","use_regex":false}]})");
  const auto tokenizer = open_json(json).value();
  EXPECT_TRUE(tokenizer->encode("aaaa"));
  const auto tokens = tokenizer->encode(std::string(40, 'a').append("ab"));
  ASSERT_FALSE(tokens);
  EXPECT_THAT(tokens.error().message, HasSubstr("needs too much time behind byte 0 of the text"));
}

TEST(Tokenizer, ATokenNumberAloneAllocatesNothing) {
  // The file names 262 tokens.
  EXPECT_EQ(json_error("257", "65000"), "opened");
  EXPECT_THAT(json_error("257", "16777215"),
              HasSubstr("has a token number 16777215; expected less than 66"));
}

// Hugging Face's tokenizers give added tokens numbers of their own, whatever the file says.
TEST(Tokenizer, RefusesNumbersThatAddedTokensWouldNotGet) {
  EXPECT_THAT(json_error("258", "300"),
              HasSubstr("gives the added token '<s>' the number 300; expected 258, the next after "
                        "the vocabulary and the added tokens before"));
  EXPECT_THAT(json_error("<s>", "abc"), HasSubstr("gives the added token 'abc' the number 258; "
                                                  "expected 257, as the vocabulary does"));
  const std::string more = R"("id":258},{"content":"<t>","id":)";
  EXPECT_EQ(json_error("\"id\":258}", more + "259}"), "opened");
  EXPECT_THAT(json_error("\"id\":258}", more + "258}"),
              HasSubstr("'<t>' the number 258; expected 259"));
}

// As in Hugging Face's tokenizers, which find tokens before these take in the white space.
TEST(Tokenizer, AddedTokensInWhiteSpaceThatAnotherTakesInAreTokens) {
  const auto tokenizer =
      open_json(test::small_tokenizer_json(
                    R"("added_tokens":[{"content":"<s>","id":258,"rstrip":true},)"
                    R"({"content":"\n","id":259,"rstrip":true},{"content":"  ","id":260}],)"))
          .value();
  EXPECT_THAT(tokenizer->encode("a\n\n\nb").value(), ElementsAre(64, 259, 259, 259, 65));
  EXPECT_THAT(tokenizer->encode("a<s>  b").value(), ElementsAre(64, 258, 260, 65));
  EXPECT_THAT(tokenizer->encode("a<s> b").value(), ElementsAre(64, 258, 65));
}

// As in Hugging Face's tokenizers: "b c" comes before the second "a b".
TEST(Tokenizer, OfEqualMergesTheLastOneCounts) {
  std::string json = test::small_tokenizer_json();
  const auto replace = [&](std::string_view from, std::string_view to) {
    ASSERT_NE(json.find(from), std::string::npos);
    json.replace(json.find(from), from.size(), to);
  };
  replace("\"abc\":257", "\"bc\":257");
  replace(R"(["a b",["ab","c"]])", R"(["a b","b c","a b"])");
  EXPECT_THAT(open_json(json).value()->encode("abc").value(), ElementsAre(64, 257));
  replace(R"(["a b","b c","a b"])", R"(["a b","b c"])");
  EXPECT_THAT(open_json(json).value()->encode("abc").value(), ElementsAre(256, 66));
}

TEST(Tokenizer, TakesNoDropoutForNone) {
  EXPECT_EQ(json_error("\"BPE\"", "\"BPE\",\"dropout\":0.0"), "opened");
  EXPECT_THAT(json_error("\"BPE\"", "\"BPE\",\"dropout\":0.5"), HasSubstr("dropout"));
}

TEST(Tokenizer, RefusesABrokenTokenizerJson) {
  EXPECT_EQ(json_error("<s>", "<t>"), "opened");
  EXPECT_THAT(json_error("{", "["), HasSubstr("is no JSON"));
  EXPECT_THAT(json_error("\"BPE\"", "\"Unigram\""), HasSubstr("a model 'Unigram'; expected BPE"));
  EXPECT_THAT(json_error("\"a b\"", "\"a  b\""), HasSubstr("has merge 0 = 'a  b'; expected two"));
  EXPECT_THAT(json_error("\"a b\"", "\"a d\""), HasSubstr("with 'ad', which is not in the vocab"));
  EXPECT_THAT(json_error("\"abc\":257", "\"abc\":256"),
              HasSubstr("gives the number 256 to 'ab' and 'abc'; expected a number for each"));
  EXPECT_THAT(json_error("\"a\":", "\"aa\":"), HasSubstr("'a', which is not in the vocabulary"));
  EXPECT_THAT(json_error("\"z\":", "\"zz\":"), HasSubstr("has no token for byte 122"));
  EXPECT_THAT(json_error("257", "-1"), HasSubstr("the number -1; expected a token's number"));
  EXPECT_THAT(json_error("257", "2000000000"), HasSubstr("has a token number 2000000000"));
  EXPECT_THAT(json_error("\"ByteLevel\"", "\"BertLevel\""), HasSubstr("'BertLevel'; expected"));
  EXPECT_THAT(json_error("null", "{\"type\":\"NFKC\"}"), HasSubstr("normalizer 'NFKC'"));
  EXPECT_THAT(json_error("\"id\"", "\"number\""), HasSubstr("expected its 'content' and 'id'"));
  EXPECT_THAT(error_of(open_tokenizer(test::fresh_folder("empty"), "", 1)),
              HasSubstr("has neither tokenizer.json nor vocab.json"));
}

// Words are looked up as the vocabulary spells them, so one of other characters is no word.
TEST(BpeTokenizer, AWholeWordIsSpelledInLettersOfBytes) {
  std::string json = test::small_tokenizer_json();
  const auto replace = [&](std::string_view from, std::string_view to) {
    json.replace(json.find(from), from.size(), to);
  };
  replace(R"("vocab":{)", R"("ignore_merges":true,"vocab":{"\u2581":258,"cab":259,)");
  const auto tokenizer =
      open_tokenizer("", test::temporary_file("whole.json", json), any_vocabulary).value();
  EXPECT_THAT(encoded(*tokenizer, "cab"), ElementsAre(259));
  EXPECT_THAT(encoded(*tokenizer, "\u2581"), SizeIs(3));
}

}  // namespace
}  // namespace kv::model

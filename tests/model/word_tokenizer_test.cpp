// Tokenizers whose tokens are whole words.
#include "kvcheck/model/tokenizer/word_tokenizer.h"

#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using namespace testing;

// Words a, b and no with the tokens 1, 2 and 3; <s> is 0 and an added token.
std::string json_with(std::string_view from = "", std::string_view to = "") {
  std::string json = R"({"added_tokens":[{"id":0,"content":"<s>"}],"normalizer":null,)"
                     R"("pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel",)"
                     R"("vocab":{"<s>":0,"a":1,"b":2,"banana":3},"unk_token":"<unk>"}})";
  const std::size_t at = json.find(from);
  if (at == std::string::npos) return "no such text";
  return json.replace(at, from.size(), to);
}

Result<std::unique_ptr<Tokenizer>> open_words(const std::string& json) {
  return open_tokenizer("x", test::temporary_file("tokenizer.json", json), 10);
}

std::string error_of(const std::string& json) {
  const auto opened = open_words(json);
  return opened ? "opened" : opened.error().message;
}

TEST(WordTokenizer, LooksUpWordsBetweenWhiteSpace) {
  const auto tokenizer = open_words(json_with()).value();
  EXPECT_EQ(tokenizer->vocabulary(), 4U);
  EXPECT_THAT(tokenizer->encode(" a\tb \n banana").value(), ElementsAre(1, 2, 3));
  // The no-break blank and the ideographic one are white space too.
  EXPECT_THAT(tokenizer
                  ->encode("a\xC2\xA0"
                           "b\xE3\x80\x80"
                           "a")
                  .value(),
              ElementsAre(1, 2, 1));
  EXPECT_THAT(tokenizer->encode(" \n").value(), IsEmpty());
}

TEST(WordTokenizer, CutsAddedTokensOutOfWords) {
  const auto tokenizer = open_words(json_with()).value();
  EXPECT_THAT(tokenizer->encode("<s>a<s> b").value(), ElementsAre(0, 1, 0, 2));
}

TEST(WordTokenizer, JoinsWordsByOneBlank) {
  const auto tokenizer = open_words(json_with()).value();
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{0, 1, 3, 2}).value(), "<s> a banana b");
  EXPECT_EQ(tokenizer->piece({}, 1), "a");
  EXPECT_EQ(tokenizer->piece(2, 1), " a");
  EXPECT_THAT(tokenizer->decode(std::vector<TokenId>{4}).error().message,
              HasSubstr("token 4 is out"));
}

TEST(WordTokenizer, AnUnknownWordIsAnErrorUnlessThereIsATokenForIt) {
  const auto tokenizer = open_words(json_with()).value();
  const auto error = [&](std::string_view text) { return tokenizer->encode(text).error().message; };
  EXPECT_EQ(error("a bananna"), "unknown word 'bananna'; did you mean 'banana'?");
  EXPECT_THAT(error("a Zeppelin"), HasSubstr("unknown word 'Zeppelin'"));
  EXPECT_THAT(error("a Zeppelin"), HasSubstr("expected one of the tokenizer's 4"));
  EXPECT_EQ(error("a \xFF"), "the text is not UTF-8 at byte 2");
  const auto known = open_words(json_with("<unk>", "b")).value();
  EXPECT_THAT(known->encode("a Zeppelin").value(), ElementsAre(1, 2));
}

TEST(WordTokenizer, RefusesABrokenFile) {
  EXPECT_EQ(error_of(json_with()), "opened");
  EXPECT_THAT(error_of(json_with("WordLevel", "WordPiece")),
              HasSubstr("expected BPE or WordLevel"));
  EXPECT_THAT(error_of(json_with("WhitespaceSplit", "Whitespace")),
              HasSubstr("has a pre-tokenizer 'Whitespace'; expected WhitespaceSplit"));
  EXPECT_THAT(error_of(json_with("null", R"({"type":"NFC"})")),
              HasSubstr("has a normalizer 'NFC'; expected none"));
  EXPECT_THAT(error_of(json_with("\"vocab\"", "\"words\"")), HasSubstr("has no vocabulary"));
  EXPECT_THAT(error_of(json_with(":2,", ":1,")), HasSubstr("gives the number 1 to 'a' and 'b'"));
  EXPECT_THAT(error_of(json_with(":2,", ":-2,")), HasSubstr("gives 'b' the number -2"));
  EXPECT_THAT(error_of(json_with(":2,", ":200000000,")), HasSubstr("token number 200000000"));
  EXPECT_THAT(error_of(json_with("content", "text")), HasSubstr("expected its 'content' and 'id'"));
  EXPECT_THAT(error_of(json_with("null", "nul")), HasSubstr("is no JSON"));
}

}  // namespace
}  // namespace kv::model

// The recall task: which questions can be answered from what stands before, and how they are
// counted.
#include "kvcheck/model/run/recall.h"

#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using namespace testing;

class Recall : public Test {
 protected:
  Recall() {
    std::string words;
    int next = 0;
    for (const std::string word : {"story", "about", "the", "sea", ".", "what", "is", "anna", "ben",
                                   "'s", "hat", "pet", "?", "red", "cat"}) {
      words += (words.empty() ? "\"" : ",\"") + word + "\":" + std::to_string(next++);
    }
    const std::string json = R"({"pre_tokenizer":{"type":"WhitespaceSplit"},)"
                             R"("model":{"type":"WordLevel","vocab":{)" +
                             words + "}}}";
    tokenizer_ = open_tokenizer("x", test::temporary_file("tokenizer.json", json), 20).value();
  }

  [[nodiscard]] std::vector<RecallQuestion> questions(std::string_view text) const {
    return recall_questions(tokenizer_->encode(text).value(), *tokenizer_);
  }

  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(Recall, CountsFromTheLatestMention) {
  EXPECT_THAT(questions("anna 's hat is red . the sea . what is anna 's hat ? red ."),
              ElementsAre(RecallQuestion{.answer = 15, .distance = 11}));
  // An answer is a mention too.
  EXPECT_THAT(
      questions("anna 's hat is red . what is anna 's hat ? red . what is anna 's hat ? red"),
      ElementsAre(RecallQuestion{.answer = 12, .distance = 8},
                  RecallQuestion{.answer = 20, .distance = 8}));
}

// A model may number more tokens than its tokenizer has: they are no words.
TEST_F(Recall, PassesOverTokensWithoutAText) {
  std::vector<TokenId> stream =
      tokenizer_->encode("anna 's hat is red . what is anna 's hat ? red").value();
  stream.insert(stream.begin() + 6, static_cast<TokenId>(tokenizer_->vocabulary()));
  EXPECT_THAT(recall_questions(stream, *tokenizer_),
              ElementsAre(RecallQuestion{.answer = 13, .distance = 9}));
}

TEST_F(Recall, AsksOnlyWhatThisEpisodeStated) {
  EXPECT_THAT(questions("what is anna 's hat ? red ."), IsEmpty());
  EXPECT_THAT(questions("ben 's hat is red . anna 's pet is cat . what is anna 's hat ? red"),
              IsEmpty());
  // The fact was stated before the text begins.
  EXPECT_THAT(questions("anna 's hat is cat . what is anna 's hat ? red ."), IsEmpty());
  EXPECT_THAT(questions("anna 's hat is red . story about the sea . what is anna 's hat ? red"),
              IsEmpty());
  EXPECT_THAT(questions("anna 's hat is red"), IsEmpty());
  EXPECT_THAT(questions(""), IsEmpty());
}

TEST_F(Recall, AnswersAreCountedByDistance) {
  std::vector<RecallBin> bins = recall_bins();
  const std::vector<RecallQuestion> asked = {{1, 8},   {2, 15},  {3, 16},
                                             {4, 127}, {5, 128}, {6, 300}};
  const std::vector<std::uint8_t> right = {1, 0, 1, 1, 0, 1};
  count_recall(asked, right, bins);
  std::vector<std::string> counts;
  for (const RecallBin& bin : bins) {
    counts.push_back(bin.label() + " " + std::to_string(bin.right) + "/" +
                     std::to_string(bin.asked));
  }
  EXPECT_THAT(counts, ElementsAre("1-16 1/2", "16-32 1/1", "32-64 0/0", "64-96 0/0", "96-128 1/1",
                                  "128-256 0/1", "256-65536 1/1"));
}

}  // namespace
}  // namespace kv::model

// Scores of answers, against examples and an independent implementation in Python.
#include "kvcheck/model/tasks/answer_scores.h"

#include <cstdlib>
#include <fstream>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

using Answers = std::vector<std::string>;

AnswerScore score(const std::string& text, const Answers& answers) {
  return score_answer(text, answers);
}

TEST(AnswerScores, IgnoreCasePunctuationAndArticles) {
  EXPECT_EQ(score("The red hat.", Answers{"red hat"}), (AnswerScore{true, true, 1}));
  EXPECT_EQ(score("\xc3\x84pfel!", Answers{"\xc3\xa4pfel"}), (AnswerScore{true, true, 1}));
  EXPECT_EQ(score("12,345", Answers{"12345"}), (AnswerScore{true, true, 1}));
  EXPECT_EQ(score(" A  Tale, of\tthe (Two) ", Answers{"tale of two"}),
            (AnswerScore{true, true, 1}));
}

TEST(AnswerScores, ContainingIsByWholeWords) {
  EXPECT_EQ(score("it is red now", Answers{"red"}), (AnswerScore{false, true, 0.4}));
  EXPECT_EQ(score("hundred", Answers{"red"}), (AnswerScore{false, false, 0}));
  EXPECT_EQ(score("two red three", Answers{"two three"}).contains, false);
}

TEST(AnswerScores, TheBestAnswerCounts) {
  const AnswerScore best = score("paris rome", Answers{"oslo", "rome paris", "rome"});
  EXPECT_EQ(best, (AnswerScore{false, true, 1}));
}

TEST(AnswerScores, AnEmptyAnswerIsNotRight) {
  EXPECT_EQ(score("", Answers{"the"}), (AnswerScore{false, false, 0}));
  EXPECT_EQ(score("a", Answers{"the"}), (AnswerScore{false, false, 0}));
}

// The letter of a choice may be A.
TEST(AnswerScores, AnAnswerOfNothingElseIsComparedWithArticlesOrPunctuation) {
  for (const std::string text : {"the", "The", "the.", "(The)"}) {
    EXPECT_EQ(score(text, Answers{"the"}), (AnswerScore{true, true, 1})) << text;
  }
  EXPECT_EQ(score("A.", Answers{"A"}), (AnswerScore{true, true, 1}));
  EXPECT_EQ(score("The answer is A", Answers{"A"}), (AnswerScore{false, true, 0.4}));
  EXPECT_EQ(score("The answer is B", Answers{"A"}), (AnswerScore{false, false, 0}));
  EXPECT_EQ(score("?", Answers{"?"}), (AnswerScore{true, true, 1}));
  EXPECT_EQ(score("!", Answers{"?"}), (AnswerScore{false, false, 0}));
  EXPECT_EQ(score("? melon", Answers{"? "}).contains, true);
}

// Random words of few letters, so that answers overlap, with articles, marks and capital letters.
std::string random_text(const Rng& rng, std::uint32_t number) {
  constexpr std::array<const char*, 12> words = {"red",  "Red",   "blue",
                                                 "the",  "A",     "an",
                                                 "hat.", "(hat)", "\xc3\x89t\xc3\xa9",
                                                 ",",    "x-y",   "\xce\xa3\xce\x91\xce\xa3"};
  std::string text;
  const std::uint64_t count = rng.below(6, number, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : " ") + std::string(words.at(rng.below(words.size(), number, 1 + i)));
  }
  return text;
}

TEST(AnswerScores, AgreeWithPython) {
  const test::TemporaryFolder folder;
  const Rng rng(7);
  std::ofstream cases(folder / "cases.jsonl");
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::string text = random_text(rng, 3 * i);
    const Answers answers = {random_text(rng, 3 * i + 1) + (i % 4 == 0 ? " the." : " end"),
                             random_text(rng, 3 * i + 2) + (i % 5 == 0 ? " ?" : " x")};
    const AnswerScore got = score(text, answers);
    cases << JsonObject()
                 .add("text", text)
                 .add_raw("answers", json_list(answers, json_string))
                 .add("exact", got.exact)
                 .add("contains", got.contains)
                 .add("f1", got.f1)
                 .text()
          << "\n";
  }
  cases.close();
  const std::string command =
      "python3 " KVCHECK_SOURCE_DIR "/tests/tasks/answer_scores.py " + (folder / "cases.jsonl");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace kv::model

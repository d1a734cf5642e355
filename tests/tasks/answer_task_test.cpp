// Items asked of a model, against naive readings of the same texts by a decoder.
#include "kvcheck/model/tasks/answer_task.h"

#include <algorithm>

#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/tasks/task_generators.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

using namespace testing;

Result<std::size_t> words_in(const std::string& sentence) {
  return static_cast<std::size_t>(std::ranges::count(sentence, ' ')) + 1;
}

class AnswerTask : public Test {
 protected:
  [[nodiscard]] TaskItem item(const std::string& kind, std::uint32_t index, double depth) const {
    return generate_task({.kind = kind, .length = 120, .depth = depth, .index = index}, words_in)
        .value()
        .item;
  }

  [[nodiscard]] TaskStream stream(const TaskItem& item) const {
    return stream_of(item, *tokenizer_, model_.config.begin_token).value();
  }

  [[nodiscard]] Answering how(const std::string& spec) const {
    return {.model = model_, .tokenizer = *tokenizer_, .spec = parse_spec(spec).value()};
  }

  // The losses of a text after the prompt, each token from a decoder of its own.
  [[nodiscard]] std::vector<double> naive_losses(const TaskItem& asked,
                                                 const TaskStream& of,
                                                 const Answering& how,
                                                 const std::vector<TokenId>& text) const {
    std::vector<double> losses;
    for (std::size_t i = 0; i < text.size(); ++i) {
      losses.push_back(
          nll_of(logits_after(asked, of, how,
                              {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i)}),
                 text[i]));
    }
    return losses;
  }

  [[nodiscard]] std::vector<float> logits_after(const TaskItem& asked,
                                                const TaskStream& of,
                                                const Answering& how,
                                                const std::vector<TokenId>& text) const {
    DecoderOptions options = how.options;
    options.marks = of.marks;
    options.length = tokens_of(of, how);
    auto decoder = Decoder::create(model_, spec_for(asked, of, how).value(), options).value();
    for (std::size_t at = 0; at < of.prompt.size();) {
      const std::size_t rows = decoder.next_chunk(of.prompt.size() - at);
      EXPECT_TRUE(decoder.feed(std::span(of.prompt).subspan(at, rows)));
      at += rows;
    }
    for (const TokenId& token : text) EXPECT_TRUE(decoder.feed({&token, 1}));
    const auto rows = decoder.logits();
    const std::size_t width = model_.config.vocabulary;
    return {rows.end() - static_cast<std::ptrdiff_t>(width), rows.end()};
  }

  std::string folder_ = KVCHECK_SOURCE_DIR "/model/data";
  LanguageModel model_ = open_model(folder_).value();
  std::unique_ptr<Tokenizer> tokenizer_ =
      open_tokenizer(folder_, "", model_.config.vocabulary).value();
};

TEST_F(AnswerTask, APromptEndsWithItsQuestion) {
  const TaskItem asked = item("story-facts", 3, 0.5);
  const TaskStream of = stream(asked);
  EXPECT_EQ(of.prompt.front(), *model_.config.begin_token);
  const auto context = tokenizer_->encode(asked.context).value();
  EXPECT_EQ(of.marks.prompt, 1 + context.size());
  EXPECT_EQ(of.marks.prompt + of.marks.question, of.prompt.size());
  EXPECT_EQ(of.marks.question, 5U);  // what is NAME 's ITEM
  EXPECT_EQ(of.answer, tokenizer_->encode(" " + asked.answers.front()).value());
  EXPECT_EQ(of.choices.size(), 12U);
  ASSERT_EQ(std::ranges::count(of.right, true), 1);
  const auto right = std::ranges::find(of.right, true) - of.right.begin();
  EXPECT_EQ(of.choices.at(static_cast<std::size_t>(right)), of.answer);
  EXPECT_EQ(of.longest, 2U);
}

// Answers and choices of several tokens, some of which follow what is generated for a while.
TaskItem with_longer_texts(TaskItem item) {
  const std::string right = item.answers.front();
  const std::string other =
      item.choices.front() == right ? item.choices.back() : item.choices.front();
  item.answers = {right + " . what is anna", other};
  item.choices = {item.answers.front(), right + " . story", other + " . what", other};
  item.stops = {"story"};
  return item;
}

TEST_F(AnswerTask, LossesAreThoseOfNaiveReadings) {
  for (const std::string spec :
       {"dense", "dense;chunk=16", "h2o:ratio=0.25;compress=prompt",
        "streaming:sinks=1,budget=24;positions=in-cache;chunk=8",
        "reservoir:budget=30;compress=question", "reservoir:budget=30", "@ada-snapkv-prompt",
        "@kvzip-prompt", "@kivi", "tova:budget=24;unit=model",
        "streaming:sinks=1,budget=24;positions=shifted",
        "window:budget=24;positions=in-cache;vectors=re-evaluated",
        "dense;visibility=top-pages:16/8/1"}) {
    const TaskItem asked = with_longer_texts(item("story-facts", 5, 0.9));
    const TaskStream of = stream(asked);
    const Answering by = how(spec);
    const auto done = answer_task(asked, of, by);
    ASSERT_TRUE(done) << done.error().message;
    double sum = 0;
    for (const double loss : naive_losses(asked, of, by, of.answer)) sum += loss;
    EXPECT_DOUBLE_EQ(done->answer.loss, sum / static_cast<double>(of.answer.size())) << spec;
    std::size_t rank = 1;
    std::vector<double> sums;
    for (const auto& choice : of.choices) {
      sums.push_back(0);
      for (const double loss : naive_losses(asked, of, by, choice)) sums.back() += loss;
    }
    // The first and the last of the choices are answers.
    ASSERT_EQ(of.right, (std::vector<bool>{true, false, false, true}));
    const double best = std::min(sums.front(), sums.back());
    for (const double other : {sums[1], sums[2]}) rank += other < best ? 1U : 0U;
    EXPECT_EQ(done->answer.rank, rank) << spec;
    std::vector<TokenId> likeliest;
    while (likeliest.size() < of.longest + more_than_the_answer) {
      const auto logits = logits_after(asked, of, by, likeliest);
      likeliest.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
    }
    const std::string text = tokenizer_->decode(likeliest).value();
    EXPECT_THAT(text, HasSubstr(done->answer.text)) << spec;
    EXPECT_THAT(done->answer.text, Not(IsEmpty()));
  }
}

// The wrong choice is likelier than the first right one in one of the two orders.
TEST_F(AnswerTask, TheLikeliestOfTheRightChoicesCounts) {
  const TaskItem whole = item("story-facts", 5, 0.9);
  const std::string right = whole.answers.front();
  std::vector<std::string> others;
  for (const std::string& choice : whole.choices) {
    if (choice != right) others.push_back(choice);
  }
  ASSERT_GE(others.size(), 2U);
  for (const std::size_t k : {0U, 1U}) {
    TaskItem asked = whole;
    asked.answers = {others[k], right};
    asked.choices = {others[k], right, others[1 - k]};
    const auto done = answer_task(asked, stream(asked), how("dense"));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->answer.rank, 1U) << k;
  }
}

TEST_F(AnswerTask, TheAnswerEndsAtAStop) {
  TaskItem asked = item("story-fact", 1, 1);
  Answering by = how("dense");
  const auto whole = answer_task(asked, stream(asked), by);
  asked.stops = {"nowhere"};
  const auto longer = answer_task(asked, stream(asked), by);
  by.longest_answer = 2;
  const auto cut = answer_task(asked, stream(asked), by);
  ASSERT_TRUE(whole && longer && cut);
  EXPECT_THAT(longer->answer.text, StartsWith(whole->answer.text + " ."));
  EXPECT_EQ(words_in(longer->answer.text).value(), 2 + more_than_the_answer);
  EXPECT_EQ(whole->answer.text, asked.answers.front());
  EXPECT_EQ(cut->answer.text, asked.answers.front());
}

// The context has room for the right answer and three tokens.
TEST_F(AnswerTask, NoItemIsTooLongBecauseATextMayGoOn) {
  TaskItem asked = item("story-fact", 1, 1);
  asked.stops = {"nowhere"};
  const TaskStream of = stream(asked);
  model_.config.context = of.prompt.size() + 5;
  EXPECT_EQ(tokens_of(of, how("dense")), model_.config.context);
  const auto done = answer_task(asked, of, how("dense"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(words_in(done->answer.text).value(), 5U);
  model_.config.context = of.prompt.size() + 1;
  EXPECT_EQ(tokens_of(of, how("dense")), of.prompt.size() + 2);
}

// Of no probability that decides, the right choice is not the likeliest.
TEST_F(AnswerTask, ARightChoiceIsBehindAWrongOneThatIsAsLikely) {
  TaskItem asked = item("story-fact", 1, 1);
  TaskStream of = stream(asked);
  const auto right = std::ranges::find(of.right, true) - of.right.begin();
  of.choices.push_back(of.choices.at(static_cast<std::size_t>(right)));
  of.right.push_back(false);
  EXPECT_EQ(answer_task(asked, of, how("dense")).value().answer.rank, 2U);
  asked.answers = {"kiwi"};
  asked.choices = {"kiwi", " kiwi"};
  const auto refused = stream_of(asked, *tokenizer_, model_.config.begin_token);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("item 'story-fact-1', choices: 'kiwi' and ' kiwi' are the same tokens"));
  asked.choices = {"kiwi", " "};
  EXPECT_THAT(stream_of(asked, *tokenizer_, model_.config.begin_token).error().message,
              HasSubstr("item 'story-fact-1', choices: ' ' has no token of its own"));
}

// The end of what the bundled model can do: without the fact it guesses among twelve values.
TEST_F(AnswerTask, TheBundledModelKnowsWhatIsKept) {
  std::size_t dense = 0;
  std::size_t recent = 0;
  std::size_t rank = 0;
  constexpr std::uint32_t items = 30;
  for (std::uint32_t i = 0; i < items; ++i) {
    const TaskItem asked = item("story-facts", i, 0.2);
    const auto known = answer_task(asked, stream(asked), how("dense"));
    const auto lost =
        answer_task(asked, stream(asked),
                    how("streaming:sinks=1,budget=32;positions=in-cache;compress=prompt"));
    ASSERT_TRUE(known && lost);
    dense += known->answer.exact ? 1U : 0U;
    recent += lost->answer.exact ? 1U : 0U;
    rank += lost->answer.rank;
    EXPECT_LT(lost->kv_bytes, known->kv_bytes * 2);
  }
  EXPECT_GE(dense, items * 8 / 10);
  EXPECT_LE(recent, items * 4 / 10);
  EXPECT_GT(rank, 2 * items);
}

TEST_F(AnswerTask, ASpecWithoutSizesNamesTheItem) {
  TaskItem asked = item("story-fact", 1, 1);
  const auto done =
      answer_task(asked, stream(asked), how("h2o:sinks=4,ratio=0.02;compress=prompt"));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("item 'story-fact-1'"));
}

}  // namespace
}  // namespace kv::model

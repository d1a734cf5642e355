// Generated items: what is planted is in the context, where it should be, and once.
#include "kvcheck/model/tasks/task_generators.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

using namespace testing;

Result<std::size_t> words_in(const std::string& sentence) {
  return static_cast<std::size_t>(std::ranges::count(sentence, ' ')) + 1;
}

std::vector<std::string> planted_in(const GeneratedTask& task) {
  std::vector<std::string> planted;
  const boost::json::value about = boost::json::parse(task.about);
  for (const auto& sentence : about.at("planted").as_array()) {
    planted.emplace_back(sentence.as_string());
  }
  return planted;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class TaskGenerators : public TestWithParam<std::string> {
 protected:
  static GeneratedTask make(const TaskRequest& request) {
    auto made = generate_task(request, words_in);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }

  [[nodiscard]] static TaskRequest request(std::uint32_t index) {
    return {.kind = GetParam(), .length = 150, .depth = 0.25 * (index % 5), .index = index};
  }
};

TEST_P(TaskGenerators, TheSameRequestGivesTheSameItem) {
  EXPECT_EQ(make(request(3)).item, make(request(3)).item);
  TaskRequest other = request(3);
  other.seed = 2;
  EXPECT_NE(make(other).item.context, make(request(3)).item.context);
}

TEST_P(TaskGenerators, ItemsDiffer) {
  std::set<std::string> contexts;
  for (std::uint32_t i = 0; i < 200; ++i) contexts.insert(make(request(i)).item.context);
  EXPECT_EQ(contexts.size(), 200U);
}

TEST_P(TaskGenerators, WhatIsPlantedStandsOnce) {
  if (GetParam() == "frequent") GTEST_SKIP() << "a word that stands often is planted";
  for (std::uint32_t i = 0; i < 100; ++i) {
    const GeneratedTask task = make(request(i));
    for (const std::string& sentence : planted_in(task)) {
      EXPECT_EQ(times(task.item.context, sentence), 1U) << sentence << "\n" << task.item.context;
    }
    const std::string& answer = task.item.answers.front();
    const std::string value = answer.substr(answer.find_last_of(' ') + 1);
    EXPECT_THAT(task.item.context, HasSubstr(" " + value));
  }
}

TEST_P(TaskGenerators, LengthsAreKept) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::size_t words = *words_in(make(request(i)).item.context);
    EXPECT_GE(words, 150U);
    EXPECT_LE(words, 150U + 12);
  }
}

TEST_P(TaskGenerators, RestatingChangesTheQuestionAlone) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    TaskRequest asked = request(i);
    TaskItem plain = make(asked).item;
    EXPECT_THAT(make(asked).about, Not(HasSubstr("restate")));
    asked.restate = true;
    const GeneratedTask restated = make(asked);
    EXPECT_THAT(restated.about, HasSubstr("\"restate\":true"));
    const std::string question = restated.item.question;
    // A question with its mark, and after it the words that the answer completes.
    EXPECT_GT(question.size(), question.find("? ") + 2) << question;
    plain.question = question;
    EXPECT_EQ(restated.item, plain);
  }
}

// Of the sentence that is asked for, the first that names the answer.
TEST_P(TaskGenerators, DepthIsWhereTheAnswerStands) {
  if (GetParam() == "frequent") GTEST_SKIP() << "it has no depth";
  for (std::uint32_t i = 0; i < 100; ++i) {
    TaskRequest asked = request(i);
    asked.others = 0;
    const GeneratedTask task = make(asked);
    const std::string sentence = planted_in(task).front();
    const double at = static_cast<double>(task.item.context.find(sentence));
    const double room = static_cast<double>(task.item.context.size() - sentence.size());
    EXPECT_NEAR(at / room, asked.depth, 0.12) << task.item.context;
  }
}

TEST_P(TaskGenerators, AContextThatIsTooShortIsAnError) {
  if (GetParam() == "frequent") GTEST_SKIP() << "any length holds its lines";
  TaskRequest asked = request(1);
  asked.length = 1;
  const auto made = generate_task(asked, words_in);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("too short for "));
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds()) names.emplace_back(kind.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kinds, TaskGenerators, ValuesIn(kinds()), [](const auto& kind) {
  std::string name = kind.param;
  std::erase(name, '-');
  return name;
});

TEST(TaskKinds, OnlyWhatHasADepthStatesOne) {
  const auto about = [](const std::string& kind) {
    return generate_task({.kind = kind, .length = 60}, words_in).value().about;
  };
  EXPECT_THAT(about("frequent"), testing::Not(testing::HasSubstr("depth")));
  EXPECT_THAT(about("needle"), testing::HasSubstr("\"depth\":0.5"));
}

TEST(TaskKinds, TheFrequentWordIsTheMostFrequent) {
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto made = generate_task({.kind = "frequent", .length = 60, .index = i}, words_in);
    std::map<std::string, std::size_t> counts;
    std::string text = made->item.context;
    std::erase(text, '.');
    for (const std::string_view word : split(text, ' ')) ++counts[std::string(word)];
    const std::string& answer = made->item.answers.front();
    for (const auto& [word, count] : counts) {
      if (word == answer) continue;
      EXPECT_LT(count, counts[answer]) << word << "\n" << text;
    }
  }
}

// A cache of recent words sees another word most often, and there is no pattern to go on.
TEST(TaskKinds, TheFrequentWordIsNotThatOfTheEndOfTheList) {
  std::size_t in_steps = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto made = generate_task({.kind = "frequent", .length = 300, .index = i}, words_in);
    std::string text = made->item.context;
    std::erase(text, '.');
    const auto words = split(text, ' ');
    const std::string& answer = made->item.answers.front();
    std::map<std::string, std::size_t> counts;
    for (std::size_t w = words.size() - words.size() / 4; w < words.size(); ++w) {
      ++counts[std::string(words[w])];
    }
    std::size_t most = 0;
    for (const auto& [word, count] : counts) most = std::max(most, count);
    EXPECT_LT(counts[answer], most) << text;
    for (std::size_t w = 6; w < words.size(); ++w) {
      if (words[w] == answer && words[w - 3] == answer && words[w - 6] == answer) ++in_steps;
    }
  }
  EXPECT_LT(in_steps, 100 * 300 / 10);  // of one word in three; by chance about one in twenty
}

TEST(TaskKinds, AllNumbersOfNeedlesAreAskedForInTheOrderOfTheText) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto made =
        generate_task({.kind = "needles", .length = 200, .others = 3, .index = i}, words_in);
    std::string answer = made->item.answers.front();
    std::erase(answer, ',');
    const auto numbers = split(answer, ' ');
    ASSERT_EQ(numbers.size(), 4U) << answer;
    EXPECT_EQ(planted_in(*made).size(), 4U);
    std::size_t at = 0;
    for (const std::string_view number : numbers) {
      const std::string sentence = " is " + std::string(number) + ".";
      const std::size_t found = made->item.context.find(sentence, at);
      ASSERT_NE(found, std::string::npos) << sentence << " after " << at << "\n"
                                          << made->item.context;
      at = found + 1;
    }
  }
}

TEST(TaskKinds, VariablesAreHandedOn) {
  const auto made = generate_task({.kind = "variables", .length = 200, .others = 3}, words_in);
  std::string value = made->item.answers.front();
  for (const std::string& sentence : planted_in(*made)) {
    EXPECT_THAT(sentence, EndsWith(" to " + value + "."));
    value = sentence.substr(4, sentence.find(" to ") - 4);
  }
  EXPECT_THAT(made->item.question, HasSubstr(value));
}

std::string question_of(const std::string& kind, bool restate) {
  return generate_task({.kind = kind, .length = 90, .others = 2, .index = 4, .restate = restate},
                       words_in)
      ->item.question;
}

// What is asked for is named in the question and again in what the answer completes.
TEST(TaskKinds, RestatedQuestionsAreAskedInFullFirst) {
  const std::string story = question_of("story-fact", false);
  EXPECT_THAT(story, AllOf(StartsWith(" what is "), Not(HasSubstr("?"))));
  EXPECT_EQ(question_of("story-fact", true), story + " ?" + story);
  const std::string key = question_of("lookup", false).substr(14);
  EXPECT_EQ(question_of("lookup", true), "\nWhat is the value of " + key.substr(0, key.find(' ')) +
                                             " above? The value of " + key);
  EXPECT_EQ(question_of("frequent", true),
            "\nWhich word stands most often in this list? The word that stands most often in this "
            "list is");
  const std::string variable = question_of("variables", false).substr(19);
  const std::string name = variable.substr(0, variable.find(' '));
  EXPECT_EQ(question_of("variables", true),
            "\nWhich number does " + name + " hold? " + name + " holds");
  for (const std::string kind : {"passkey", "needle", "needles", "keys"}) {
    EXPECT_EQ(question_of(kind, true), question_of(kind, false));
  }
}

TEST(TaskKinds, TheBundledTokenizerKnowsEveryWordOfStories) {
  const std::string folder = KVCHECK_SOURCE_DIR "/model/data";
  const auto tokenizer = open_tokenizer(folder, "", 260).value();
  for (const std::string kind : {"story-fact", "story-facts", "story-names"}) {
    for (std::uint32_t i = 0; i < 200; ++i) {
      const TaskItem item =
          generate_task(
              {.kind = kind, .length = 150, .others = 6, .index = i, .restate = i % 2 == 0},
              words_in)
              ->item;
      const auto tokens = tokenizer->encode(item.context + item.question);
      ASSERT_TRUE(tokens) << tokens.error().message;
      EXPECT_EQ(tokens->size(), *words_in(item.context + item.question));
    }
  }
}

TEST(TaskKinds, AnUnknownKindIsAnsweredWithTheNearest) {
  const auto made = generate_task({.kind = "neddle", .length = 50}, words_in);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("did you mean 'needle'?"));
}

TEST(TaskKinds, OthersBeyondTheNamesAreRefused) {
  for (const std::string kind : {"needles", "keys", "variables", "story-facts", "story-names"}) {
    const auto made = generate_task({.kind = kind, .length = 1U << 20U, .others = 9000}, words_in);
    ASSERT_FALSE(made) << kind;
    EXPECT_THAT(made.error().message, HasSubstr("--others of at most"));
  }
}

}  // namespace
}  // namespace kv::model

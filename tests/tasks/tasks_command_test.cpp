// kvcheck tasks and kvcheck eval --tasks as programs.
#include <algorithm>
#include <fstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using namespace testing;
using test::Ran;

class TasksCommand : public Test {
 protected:
  [[nodiscard]] static Ran kvcheck(const std::vector<std::string>& words) {
    return test::run(words);
  }

  [[nodiscard]] Ran eval(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"eval", "--model", KVCHECK_SOURCE_DIR "/model/data", "--tasks", items_});
    return test::run(words);
  }

  void make_items(const std::string& count) const {
    const Ran made = test::run({"tasks", "story-fact", "story-names", "--items", count, "--length",
                                "90", "--others", "2", "-o", items_});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::TemporaryFolder folder_;
  std::string items_ = folder_ / "items.jsonl";
};

TEST_F(TasksCommand, TheTableHasGroupsAndIntervals) {
  make_items("10");
  const Ran ran =
      eval({"--policy", "dense", "--policy", "window;compress=prompt", "--budget", "24"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("20 items in 2 groups"), HasSubstr("story-fact (10)"),
                             HasSubstr("right choice"), HasSubstr("exact, by group")));
}

TEST_F(TasksCommand, ThreadsAndResumingChangeNoByte) {
  make_items("6");
  const std::vector<std::string> words = {"--policy", "dense", "--policy",
                                          "h2o:ratio=0.3;compress=prompt"};
  const auto with = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.end(), words.begin(), words.end());
    more.insert(more.end(), {"-o", folder_ / (file + ".db"), "--json", folder_ / file, "-q"});
    EXPECT_EQ(eval(more).status, 0);
    return test::read_text(folder_ / file);
  };
  const std::string one = with("one", {"--threads", "1"});
  EXPECT_EQ(std::ranges::count(one, '\n'), 24);
  EXPECT_EQ(with("three", {"--threads", "3"}), one);
  EXPECT_EQ(with("again", {"--resume"}), one);
  EXPECT_EQ(test::read_text(folder_ / "one.db"), test::read_text(folder_ / "three.db"));
}

TEST_F(TasksCommand, AReportShowsTheAnswers) {
  make_items("8");
  ASSERT_EQ(eval({"--policy", "dense", "--policy", "window", "--policy", "streaming:sinks=1",
                  "--budget", "24", "-o", folder_ / "run.db", "-q"})
                .status,
            0);
  const Ran report = kvcheck({"report", folder_ / "run.db", "-o", folder_ / "report"});
  ASSERT_EQ(report.status, 0) << report.err;
  const std::string page = test::read_text(folder_ / "report/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"tasks-1\""), HasSubstr("16 items"),
                          HasSubstr("href=\"tasks-1/answers.csv\""),
                          // Answers of one word contain the right one if they are it.
                          HasSubstr("The table has the same numbers as that of ")));
  EXPECT_THAT(test::read_text(folder_ / "report/tasks-1/groups-exact.csv"),
              StartsWith("policy,spec,budget,seed,exact_story-fact,exact_story-names\n"));
  // By name, because two presets may have one policy.
  EXPECT_THAT(
      test::read_text(folder_ / "report/tasks-1/answers.csv"),
      AllOf(StartsWith("model,"), HasSubstr(",rank,name\n"), HasSubstr(",streaming:sinks=1\n")));
  const Ran compared = kvcheck({"compare", folder_ / "run.db", "--measure", "answer_loss"});
  EXPECT_THAT(compared.out, AllOf(HasSubstr("items"), HasSubstr("streaming")));
  EXPECT_THAT(kvcheck({"report", folder_ / "run.db", "--list"}).out,
              HasSubstr("1 task file, 3 cells"));
}

TEST_F(TasksCommand, RefusesItemsThatAreLongerThanTrainingTexts) {
  const auto make = [&](const std::string& length) {
    EXPECT_EQ(kvcheck({"tasks", "story-fact", "--items", "2", "--length", length, "--tokenizer",
                       KVCHECK_SOURCE_DIR "/model/data", "-o", items_})
                  .status,
              0);
  };
  const std::vector<std::string> window = {"--policy", "window:budget=24"};
  make("400");
  const Ran refused = eval(window);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("' line 1: item 'story-fact-0': found 4"));
  EXPECT_THAT(refused.err,
              HasSubstr(" tokens of context, question and the longest answer or choice but its "
                        "last; expected at most the 256 that the model was trained on, "
                        "or --beyond-context"));
  EXPECT_THAT(eval({"--policy", "window:budget=24", "--beyond-context"}).err,
              HasSubstr("2 of 2 items are longer than the 256 tokens that the model"));
  make("100");
  EXPECT_THAT(eval(window).err, testing::Not(HasSubstr("longer than")));
  // The answer is read, too, but for its last token.
  const auto with_answer = [&](std::size_t words) {
    std::string answer;
    for (std::size_t i = 0; i < words; ++i) answer += " fox";
    std::ofstream(items_)
        << R"({"id": "a", "context": "dora sees a fox .", "question": " what is",)"
        << R"( "answers": [")" << answer.substr(1) << R"("]})"
        << "\n";
    return eval(window);
  };
  const Ran long_answer = with_answer(260);
  EXPECT_EQ(long_answer.status, 2);
  EXPECT_THAT(long_answer.err, HasSubstr("item 'a': found 267 tokens of context, question and"));
  EXPECT_EQ(with_answer(249).status, 0);
  EXPECT_EQ(with_answer(250).status, 2);
  // As many tokens as may be generated are read.
  EXPECT_EQ(with_answer(1).status, 0);
  EXPECT_EQ(eval({"--policy", "window:budget=24", "--answer-tokens", "250"}).status, 2);
}

// An option that changes nothing is a mistake, unless it is about another of the kinds.
TEST_F(TasksCommand, RefusesOptionsThatAreAboutNoneOfTheKinds) {
  const auto error_of = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "tasks");
    words.insert(words.end(), {"--items", "1", "-o", items_});
    const Ran ran = kvcheck(words);
    EXPECT_EQ(ran.status, ran.err.empty() ? 0 : 2);
    return ran.err;
  };
  EXPECT_THAT(error_of({"story-fact", "passkey", "--others", "9"}),
              HasSubstr("--others is given, but none of story-fact, passkey has others"));
  EXPECT_THAT(error_of({"frequent", "--by-depth"}), HasSubstr("none of frequent has a depth"));
  EXPECT_THAT(error_of({"frequent", "--depth", "0"}), HasSubstr("none of frequent has a depth"));
  EXPECT_THAT(error_of({"needle", "--depth", "0.3,0.30"}), HasSubstr("names 0.3 twice"));
  EXPECT_THAT(error_of({"storyfact", "--others", "1"}), HasSubstr("'story-fact'"));
  EXPECT_EQ(error_of({"frequent", "story-facts", "--others", "3", "--by-depth"}), "");
  const std::string lines = test::read_text(items_);
  EXPECT_EQ(lines.find("\"others\":3"), lines.rfind("\"others\":"));
  EXPECT_NE(lines.find("\"others\":3"), std::string::npos);
}

TEST_F(TasksCommand, NamesTheTokenizerThatDoesNotKnowTheWords) {
  const Ran refused = kvcheck({"tasks", "needle", "--items", "1", "--tokenizer",
                               KVCHECK_SOURCE_DIR "/model/data", "-o", items_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("the tokenizer of '" KVCHECK_SOURCE_DIR
                                     "/model/data' does not know the words of this kind of item: "
                                     "unknown word 'The'"));
}

// The tokenizer's errors have the line, which is not the item's number where lines are empty.
TEST_F(TasksCommand, NamesTheLineOfAnItemThatHasNoTokens) {
  std::ofstream(items_) << R"({"id":"a","context":"anna . what is story","answers":["anna"]})"
                        << "\n\n"
                        << R"({"id":"b","context":"Zq","answers":["anna"]})"
                        << "\n";
  const Ran refused = eval({"--policy", "dense"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("' line 3: item 'b'"));
}

TEST_F(TasksCommand, SaysThatAnswersOfOneTokenFollowFromTheWholePrompt) {
  std::ofstream(items_) << R"({"id":"a","context":"anna . what is story . anna . what is",)"
                        << R"("question":" story","answers":["anna"]})"
                        << "\n";
  const std::string words = "1 of 1 items have answers of one token, which compress=question";
  EXPECT_THAT(eval({"--policy", "window:ratio=0.5;compress=question"}).err, HasSubstr(words));
  EXPECT_THAT(eval({"--policy", "window:ratio=0.5;compress=prompt"}).err,
              testing::Not(HasSubstr(words)));
}

TEST_F(TasksCommand, CachesThatHoldAPromptAreNotRankedBesideABudget) {
  make_items("8");
  ASSERT_EQ(eval({"--policy", "dense", "--policy", "window", "--policy", "@snapkv-prompt:recent=8",
                  "--budget", "24", "-o", folder_ / "run.db", "-q"})
                .status,
            0);
  const Ran means = kvcheck({"compare", folder_ / "run.db", "--means", "--measure", "exact"});
  EXPECT_THAT(means.out, testing::ContainsRegex("window +24 +no "));
  EXPECT_THAT(means.out, testing::ContainsRegex("dense +- +yes "));
  EXPECT_THAT(means.out, testing::ContainsRegex("snapkv-prompt[^\n]* yes "));
}

TEST_F(TasksCommand, WrongWordsAreOneSentence) {
  make_items("2");
  const auto error_of = [&](const Ran& ran) {
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error_of(eval({"--windows", "64"})), HasSubstr("--windows is about a text"));
  EXPECT_THAT(error_of(eval({"--score", "exakt"})), HasSubstr("did you mean 'exact'?"));
  EXPECT_THAT(error_of(eval({"--policy", "h2o:ratio=0.01;compress=prompt"})),
              HasSubstr("item 'story-fact-0'"));
  EXPECT_THAT(error_of(test::run({"eval", "--model", KVCHECK_SOURCE_DIR "/model/data", "--text",
                                  "x", "--score", "f1"})),
              HasSubstr("expected --tasks beside it"));
  EXPECT_THAT(error_of(kvcheck({"tasks"})), HasSubstr("no kind is given"));
  EXPECT_THAT(error_of(kvcheck({"tasks", "needle", "--depth", "0,2"})), HasSubstr("--depth"));
  EXPECT_THAT(error_of(kvcheck({"tasks", "needle", "needle"})), HasSubstr("is given twice"));
  EXPECT_THAT(error_of(kvcheck({"tasks", "needel"})), HasSubstr("'needle'"));
  EXPECT_THAT(error_of(kvcheck({"tasks", "keys", "--length", "9"})), HasSubstr("too short"));
  std::ofstream(items_) << "{\"id\":\"a\",\"context\":\"zzz\",\"answers\":[\"red\"]}\n";
  EXPECT_THAT(error_of(eval({})),
              HasSubstr("items.jsonl' line 1: item 'a', context and question: unknown word 'zzz'"));
  std::ofstream(items_) << "{\"id\":\"a\"}\n";
  EXPECT_THAT(error_of(eval({})), HasSubstr("line 1: item: the field \"context\" is missing"));
}

TEST_F(TasksCommand, RestatesQuestionsIfAsked) {
  const std::vector<std::string> words = {"tasks", "story-fact", "--items", "2"};
  std::vector<std::string> more = words;
  more.emplace_back("--restate");
  const auto count_marks = [](const Ran& ran) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string line = ran.out.substr(0, ran.out.find('\n'));
    const std::size_t at = line.find("\"question\"");
    return std::ranges::count(line.substr(at, line.find("\"answers\"") - at), '?');
  };
  EXPECT_EQ(count_marks(kvcheck(words)), 0);
  EXPECT_EQ(count_marks(kvcheck(more)), 1);
}

TEST_F(TasksCommand, LengthsAreInTokensOfATokenizer) {
  const Ran made = kvcheck({"tasks", "story-fact", "--items", "4", "--length", "60,90",
                            "--tokenizer", KVCHECK_SOURCE_DIR "/model/data"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("\"group\":\"story-fact 60\""),
                              HasSubstr("\"group\":\"story-fact 90\"")));
}

TEST_F(TasksCommand, DepthsAreGroupsIfTheyAreAskedFor) {
  std::vector<std::string> words = {"tasks", "needle", "--items", "4", "--depth", "0,0.25"};
  EXPECT_THAT(kvcheck(words).out, HasSubstr("\"group\":\"needle\""));
  words.emplace_back("--by-depth");
  const Ran made = kvcheck(words);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("\"group\":\"needle at 0\""),
                              HasSubstr("\"group\":\"needle at 0.25\""),
                              Not(HasSubstr("\"group\":\"needle\""))));
  // What is asked for stands everywhere.
  const Ran everywhere = kvcheck({"tasks", "frequent", "needle", "--items", "4", "--by-depth"});
  EXPECT_THAT(everywhere.out, HasSubstr("\"group\":\"frequent\""));
}

}  // namespace
}  // namespace kv

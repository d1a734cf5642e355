// kvcheck record --tasks: a trace of each item.
#include <filesystem>
#include <fstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/traces/trace.h"

namespace kv {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordTasks : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ran made = test::run(
        {"tasks", "story-fact", "--items", "3", "--length", "40", "--restate", "-o", items_});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  // With the bundled model and attention rows.
  [[nodiscard]] Ran record(std::vector<std::string> words) const {
    const std::vector<std::string> first = {"record", "--model",   KVCHECK_SOURCE_DIR "/model/data",
                                            "--kind", "attention", "-q"};
    words.insert(words.begin(), first.begin(), first.end());
    return test::run(words);
  }

  test::TemporaryFolder folder_;
  std::string items_ = folder_ / "items.jsonl";
  std::string traces_ = folder_ / "traces";
};

// The bytes of each trace are those of a recording of the same words as a text.
TEST_F(RecordTasks, AreRecordingsOfContextQuestionAndAnswer) {
  const Ran ran = record({"--tasks", items_, "--source", "s", "-o", traces_});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("wrote 3 traces into " + traces_));
  EXPECT_THAT(folder_.names(), ElementsAre("items.jsonl", "traces"));
  const std::string line = test::read_text(items_).substr(0, test::read_text(items_).find('\n'));
  const auto field = [&](const std::string& name) {
    const std::size_t at = line.find("\"" + name + "\":\"") + name.size() + 4;
    return line.substr(at, line.find('"', at) - at);
  };
  const std::string context = field("context");
  const std::string question = field("question");
  const auto words_in = [](const std::string& text) {
    std::size_t words = 0;
    for (const std::string_view word : split(text, ' ')) words += word.empty() ? 0U : 1U;
    return words;
  };
  // The answer is the question mark and the value, which is not fed.
  const std::string text = folder_ / "text.txt";
  std::ofstream(text) << context << question << " ?";
  const std::string alone = folder_ / "alone.safetensors";
  const Ran single = record({"--text", text, "--source", "s", "-o", alone, "--prompt",
                             std::to_string(words_in(context) + 1), "--question",
                             std::to_string(words_in(question))});
  ASSERT_EQ(single.status, 0) << single.err;
  EXPECT_EQ(test::read_text(traces_ + "/1.safetensors"), test::read_text(alone));
  const auto last = open_trace(traces_ + "/3.safetensors");
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last->info().tokens, last->info().marks.prompt + last->info().marks.question + 1);
}

TEST_F(RecordTasks, MarkedPartsSelectQueries) {
  ASSERT_EQ(record({"--tasks", items_, "--queries", "prompt,answer", "-o", traces_}).status, 0);
  const auto trace = open_trace(traces_ + "/2.safetensors");
  ASSERT_TRUE(trace) << trace.error().message;
  const TraceInfo& info = trace->info();
  EXPECT_THAT(info.source, AllOf(HasSubstr("item "), HasSubstr(items_)));
  ASSERT_EQ(info.queries.size(), info.marks.prompt + 1);
  EXPECT_EQ(info.queries[info.marks.prompt - 1], info.marks.prompt - 1);
  EXPECT_EQ(info.queries.back(), info.tokens - 1);
  const std::string replayed = folder_ / "replay.jsonl";
  const Ran ran = test::run({"replay", traces_ + "/2.safetensors", "--policy",
                             "h2o:budget=12;compress=prompt", "--json", replayed, "-q"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(test::read_text(replayed),
              AllOf(HasSubstr("\"first_loss\":" + std::to_string(info.marks.prompt) + ","),
                    HasSubstr("\"queries\":" + std::to_string(info.marks.prompt + 1) + ",")));
}

TEST_F(RecordTasks, WhatIsWrongIsOneSentenceAndNoFolder) {
  const auto error_of = [&](const std::vector<std::string>& words) {
    const Ran ran = record(words);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(traces_));
    EXPECT_THAT(folder_.names(), ElementsAre("items.jsonl"));
    return ran.err;
  };
  EXPECT_THAT(error_of({"--tasks", items_, "--text", items_, "-o", traces_}),
              HasSubstr("--text is about a text"));
  EXPECT_THAT(error_of({"--tasks", items_, "--resume", "-o", traces_}), HasSubstr("--resume"));
  EXPECT_THAT(error_of({"--tasks", items_, "-o", items_ + "/traces"}), HasSubstr("cannot create"));
  EXPECT_THAT(error_of({"--tasks", items_, "--layers", "99", "-o", traces_}),
              AllOf(HasSubstr("item '"), HasSubstr("99")));
  EXPECT_THAT(error_of({"--tasks", items_, "--queries", "prompts", "-o", traces_}),
              HasSubstr("'prompts'"));
  EXPECT_THAT(error_of({"--tasks", items_, "-o", items_}), HasSubstr("is no folder"));
  EXPECT_THAT(error_of({"--tasks", items_}), HasSubstr("expected -o FOLDER"));
  EXPECT_THAT(error_of({"--tasks", items_, "--queries", "0-90", "-o", traces_}),
              AllOf(HasSubstr("item '"), HasSubstr("go up to 90")));
  std::ofstream(items_) << R"({"id": "a", "context": "x", "answers": []})";
  EXPECT_THAT(error_of({"--tasks", items_, "-o", traces_}), HasSubstr("line 1"));
}

// Before anything is recorded: the last item's answer has one token, which is not read.
TEST_F(RecordTasks, QueriesThatAnItemLacksAreRefusedFirst) {
  std::ofstream(items_, std::ios::app)
      << R"({"id": "last", "context": "dora", "question": " is", "answers": ["melon"]})";
  const Ran ran = record({"--tasks", items_, "--queries", "prompt,answer", "-o", traces_});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("item 'last'"), HasSubstr("is not read")));
  EXPECT_EQ(record({"--tasks", items_, "-o", traces_}).status, 0);
}

// Names that cannot be renamed as they stand: the current folder, and a link to one.
TEST_F(RecordTasks, TheFolderMayBeALinkToOne) {
  std::filesystem::create_directory(folder_ / "real");
  std::filesystem::create_symlink(folder_ / "real", traces_);
  ASSERT_EQ(record({"--tasks", items_, "-o", traces_}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "real/3.safetensors"));
  std::filesystem::create_directory(folder_ / "here");
  const Ran here = test::run_shell("cd '" + (folder_ / "here") + "' && $K record --model " +
                                   KVCHECK_SOURCE_DIR "/model/data --tasks '" + items_ +
                                   "' --kind attention -q -o .");
  EXPECT_EQ(here.status, 0) << here.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "here/3.safetensors"));
}

TEST_F(RecordTasks, AFolderWithFilesIsRefused) {
  std::filesystem::create_directory(traces_);
  ASSERT_EQ(record({"--tasks", items_, "-o", traces_}).status, 0);  // it was empty
  const Ran again = record({"--tasks", items_, "-o", traces_ + "/"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("is a folder with '1.safetensors' in it"));
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "link");
  const Ran link = record({"--tasks", items_, "-o", folder_ / "link"});
  EXPECT_EQ(link.status, 2);
  EXPECT_THAT(link.err, HasSubstr("is no folder"));
}

}  // namespace
}  // namespace kv

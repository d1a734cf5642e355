// kvcheck compare of task items: an item counts once, in whatever file and under whatever id.
#include <fstream>
#include <iterator>

#include "kvcheck/tests/cli/sweep_kinds.h"

namespace kv::test {
namespace {

using testing::HasSubstr;

class CompareItems : public SweepKinds {
 protected:
  // The items of a file, whose ids begin with this word instead of their kind.
  [[nodiscard]] std::string items(const std::string& name, const std::string& id) const {
    std::ifstream file(folder_ / name);
    std::string text(std::istreambuf_iterator<char>(file), {});
    const std::string kind = "\"story-fact-";
    for (auto at = text.find(kind); at != std::string::npos; at = text.find(kind)) {
      text.replace(at, kind.size(), "\"" + id + "-");
    }
    return text;
  }

  void answer(const std::string& name, const std::string& text, const std::string& results) const {
    std::ofstream(folder_ / name) << text;
    const Ran ran = run({"eval", "--model", a_model(), "--tasks", folder_ / name, "--policy",
                         "window", "--policy", "dense", "--budget", "24", "-o", folder_ / results});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran compared(const Words& files) const {
    Words words = {"compare", "--measure", "answer_loss"};
    for (const std::string& file : files) words.push_back(folder_ / file);
    return run(words);
  }
};

TEST_F(CompareItems, ThatTwoFilesHaveCountOnce) {
  const std::string four = items("items-1", "a");
  answer("four", four, "run.db");
  answer("eight", four + items("items-2", "b"), "run.db");
  EXPECT_THAT(compared({"run.db"}).out, HasSubstr(", 8 items\n"));
}

// Windows cut texts, and answers have none.
TEST_F(CompareItems, AreComparedWithDenseBesideTextsInSeveralWindows) {
  answer("four", items("items-1", "a"), "run.db");
  const Ran evaluated =
      run({"eval", "--model", a_model(), "--text", folder_ / "text-0", "--policy", "window",
           "--budget", "24", "--windows", "0,64", "-o", folder_ / "run.db"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const Ran ran = compared({"run.db"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Each is compared with dense, which keeps every token."));
  EXPECT_THAT(run({"compare", folder_ / "run.db", "--measure", "loss"}).err,
              HasSubstr("in windows of 0, 64 tokens"));
}

TEST_F(CompareItems, OfOneGroupAreComparedAlone) {
  std::string other = items("items-2", "b");
  for (auto at = other.find("\"group\":\"story-fact"); at != std::string::npos;
       at = other.find("\"group\":\"story-fact")) {
    other.replace(at, 19, "\"group\":\"other");
  }
  answer("items", items("items-1", "a") + other, "run.db");
  const auto of_group = [&](const Words& more) {
    return run(with({"compare", folder_ / "run.db"}, more));
  };
  const Ran one = of_group({"--measure", "answer_loss", "--group", "other"});
  EXPECT_THAT(one.out, HasSubstr("answer per token, nats, group other, 4 items\n"));
  const Ran means = of_group({"--group", "other", "--means"});
  EXPECT_THAT(means.out, HasSubstr("Means over 4 items of the group 'other'"));
  EXPECT_THAT(of_group({"--group", "other", "--csv", "-"}).out, HasSubstr(",other,"));
  EXPECT_THAT(of_group({"--group", "othor"}).err,
              HasSubstr("run.db: unknown group 'othor'; did you mean 'other'?"));
  EXPECT_THAT(of_group({"--group", "other", "--measure", "loss"}).err,
              HasSubstr("--group selects items of tasks, and loss is not a measure of tasks"));
}

TEST_F(CompareItems, UnderSeveralIdsCountOnce) {
  const std::string text = items("items-1", "a") + items("items-1", "b") + items("items-1", "c");
  answer("copies", text, "run.db");
  EXPECT_THAT(compared({"run.db"}).out, HasSubstr(", 4 items\n"));
}

TEST_F(CompareItems, AreFoundInAFileThatHasGrown) {
  answer("items", items("items-1", "a"), "before.db");
  answer("items", items("items-2", "b") + items("items-1", "a"), "after.db");
  const Ran ran = compared({"before.db", "after.db"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(", 4 items\n"));
  EXPECT_THAT(ran.out, HasSubstr("4 items are in the second file only: item b-0 of items"));
}

// Results of older versions name items by id and file only; so do the others beside them.
TEST_F(CompareItems, OfOlderFilesAreThoseOfOneFile) {
  answer("items", items("items-1", "a"), "before.db");
  answer("items", items("items-1", "a"), "after.db");
  tamper("before.db", "DELETE FROM task_item_texts");
  EXPECT_THAT(compared({"before.db", "after.db"}).out, HasSubstr(", 4 items\n"));
  answer("grown", items("items-1", "a") + items("items-2", "b"), "grown.db");
  EXPECT_EQ(compared({"before.db", "grown.db"}).status, 2);
}

}  // namespace
}  // namespace kv::test

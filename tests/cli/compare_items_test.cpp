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
    if (files.size() == 1) words = with(words, {"--against", "dense"});
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

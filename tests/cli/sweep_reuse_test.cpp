// Cells of evaluations and tasks that an earlier plan ran: taken over if nothing that decides them
// has changed.
#include <filesystem>
#include <fstream>

#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/tests/cli/sweep_kinds.h"

namespace kv::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class SweepReuse : public SweepKinds {
 protected:
  SweepReuse() {
    std::filesystem::copy(a_model(), folder_ / "model", std::filesystem::copy_options::recursive);
  }

  // Changes the last number of the weights.
  void train_on() const {
    std::fstream file(folder_ / "model/model.safetensors",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-2, std::ios::end);
    const int byte = file.get();
    file.seekp(-2, std::ios::end);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file);
  }

  // `lists` are the fields of sources, policies and budgets, and others.
  [[nodiscard]] std::string plan(const std::string& kind, const std::string& lists) const {
    return written("{\"" + kind + R"(": {"model": ")" + (folder_ / "model") + "\", " + lists +
                   "}}");
  }

  [[nodiscard]] std::string short_evaluation(const std::string& more = "") const {
    return plan("eval", R"("texts": [)" + listed({"text-0"}) +
                            R"(], "policies": ["h2o"], "budgets": [16], "windows": [0, 64])" +
                            more);
  }

  [[nodiscard]] std::string long_evaluation() const {
    return plan("eval", R"("texts": [)" + listed({"text-1", "copy"}) +
                            R"(], "policies": ["tova", "h2o"], "budgets": [32, 16],)"
                            R"( "windows": [64, 32])");
  }

  [[nodiscard]] std::string short_tasks(const std::string& more = "") const {
    return plan("tasks", R"("files": [)" + listed({"items-1"}) +
                             R"(], "policies": ["random"], "budgets": [24], "seeds": [3])" + more);
  }

  [[nodiscard]] std::string long_tasks() const {
    return plan("tasks", R"("files": [)" + listed({"items-2", "items-1"}) +
                             R"(], "policies": ["dense", "random"], "budgets": [24],)"
                             R"( "seeds": [2, 3])");
  }
};

TEST_F(SweepReuse, ALongerPlanTakesOverWhatAShorterOneRan) {
  std::filesystem::copy_file(folder_ / "text-0", folder_ / "copy");
  sweep(short_evaluation(), "run.db");
  // Of two texts, two windows, two policies and two budgets one cell was run, under another name.
  EXPECT_THAT(swept(long_evaluation(), "run.db"),
              HasSubstr(": 15 were run, 1 were taken from earlier runs"));
  sweep(long_evaluation(), "alone.db");
  const auto mixed = read("run.db").evaluations;
  const auto alone = read("alone.db").evaluations;
  ASSERT_THAT(mixed, SizeIs(4));
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(reports::closed_loop_json(mixed[i]), reports::closed_loop_json(alone[i]));
    EXPECT_EQ(mixed[i].text, alone[i].text);
    EXPECT_EQ(mixed[i].inputs, alone[i].inputs);
  }
}

TEST_F(SweepReuse, ALongerPlanTakesOverAnswers) {
  sweep(short_tasks(), "run.db");
  EXPECT_THAT(swept(long_tasks(), "run.db"),
              HasSubstr(": 5 were run, 1 were taken from earlier runs"));
  sweep(long_tasks(), "alone.db");
  const auto mixed = read("run.db").tasks;
  const auto alone = read("alone.db").tasks;
  ASSERT_THAT(mixed, SizeIs(2));
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(reports::task_json(mixed[i]), reports::task_json(alone[i]));
  }
}

TEST_F(SweepReuse, OtherWeightsAreRun) {
  sweep(short_evaluation(), "run.db");
  sweep(short_tasks(), "run.db");
  train_on();
  EXPECT_THAT(swept(short_evaluation(R"(, "seeds": [1, 2])"), "run.db"),
              HasSubstr(", 0 were taken"));
  EXPECT_THAT(swept(long_tasks(), "run.db"), HasSubstr(": 6 were run, 0 were taken"));
}

TEST_F(SweepReuse, OtherSettingsAreRun) {
  sweep(short_evaluation(), "run.db");
  sweep(short_tasks(), "run.db");
  for (const char* const more : {R"(, "tokens": 100)", R"(, "segment": 64)", R"(, "keys": "raw")",
                                 R"(, "storage": "f16")", R"(, "weights": "int8")"}) {
    EXPECT_THAT(swept(short_evaluation(more), "run.db"), HasSubstr(": 2 were run, 0 were taken"))
        << more;
  }
  for (const char* const more : {R"(, "answer-tokens": 2)", R"(, "storage": "f16")"}) {
    EXPECT_THAT(swept(short_tasks(more), "run.db"), HasSubstr(": 1 were run, 0 were taken"))
        << more;
  }
}

// `compare` takes texts for the same that models of one name read.
TEST_F(SweepReuse, CompareSaysThatWeightsAreNotTheSame) {
  constexpr const char* words = "The weights of the models in the two files are not the same.";
  sweep(short_tasks(), "before.db");
  sweep(short_tasks(), "same.db");
  train_on();
  sweep(short_tasks(), "after.db");
  const auto compared = [&](const std::string& name) {
    return run({"compare", folder_ / "before.db", folder_ / name});
  };
  EXPECT_THAT(compared("after.db").out, HasSubstr(words));
  EXPECT_THAT(compared("same.db").out, testing::Not(HasSubstr(words)));
}

TEST_F(SweepReuse, CompareRefusesTwoWeightsOfOnePathAsTwoTexts) {
  sweep(short_evaluation(), "run.db");
  train_on();
  sweep(short_evaluation(), "run.db");
  const Ran ran = run({"compare", folder_ / "run.db", "--window", "64"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("with f32, checksum "));
}

}  // namespace
}  // namespace kv::test

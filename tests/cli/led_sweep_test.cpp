// Ranks of a sweep that fail: threads of this process play the other ranks.
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "kvcheck/cli/sweep/follow_rank.h"
#include "kvcheck/cli/sweep/lead_ranks.h"
#include "kvcheck/cli/sweep/rank_messages.h"
#include "kvcheck/reports/sweeps/sweep_file.h"
#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"

namespace kv::cli {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The messages that wait for each rank.
struct Mail {
  std::mutex mutex;
  std::map<std::size_t, std::deque<RankMessage>> waiting;
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(Mail& mail, std::size_t rank, std::size_t count)
      : mail_(mail), rank_(rank), count_(count) {}

  [[nodiscard]] std::size_t rank() const override { return rank_; }

  [[nodiscard]] std::size_t count() const override { return count_; }

  [[nodiscard]] std::size_t on_this_machine() const override { return count_; }

  [[nodiscard]] std::string machine() const override { return "node" + std::to_string(rank_); }

  void send(std::size_t to, int kind, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mail_.mutex);
    mail_.waiting[to].push_back({rank_, kind, {bytes.begin(), bytes.end()}});
  }

  std::optional<RankMessage> receive() override {
    const std::lock_guard lock(mail_.mutex);
    std::deque<RankMessage>& waiting = mail_.waiting[rank_];
    if (waiting.empty()) return {};
    RankMessage message = std::move(waiting.front());
    waiting.pop_front();
    return message;
  }

 private:
  Mail& mail_;
  std::size_t rank_;
  std::size_t count_;
};

using Role = std::function<void(Ranks& ranks, const SweepPlan& plan)>;

void right(Ranks& ranks, const SweepPlan& plan) {
  follow_rank(ranks, plan, 1);
}

RankMessage wait_for_message(Ranks& ranks) {
  while (true) {
    if (auto message = ranks.receive()) return *std::move(message);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void say(Ranks& ranks, RankWord word, const std::string& text) {
  ranks.send(0, static_cast<int>(word), bytes_of(std::string_view(text)));
}

void greet(Ranks& ranks, const std::string& words) {
  say(ranks, RankWord::hello, "node\n" + words);
}

// Says this when it is given a block, and then waits for the end.
Role answers(RankWord word, const std::string& text) {
  return [=](Ranks& ranks, const SweepPlan& plan) {
    greet(ranks, sweep_words(plan));
    while (true) {
      const RankMessage message = wait_for_message(ranks);
      if (message.kind == static_cast<int>(RankWord::end)) break;
      say(ranks, word, text);
    }
    say(ranks, RankWord::ended, "");
  };
}

void other_plan(Ranks& ranks, const SweepPlan& /*plan*/) {
  greet(ranks, "0.0.9 0123");
  wait_for_message(ranks);
  say(ranks, RankWord::ended, "");
}

std::string plan_in(const TemporaryFolder& folder) {
  const std::string path = folder / "plan.json";
  std::ofstream(path) << R"({"replay": {"traces": ["synthetic:zipf:tokens=64,kind=qkv", ")"
                      << test::a_trace() << R"("],
      "policies": ["random", "reservoir", "h2o"], "budgets": [12, 16], "seeds": 20}})";
  return path;
}

struct Led {
  Result<void> done;
  std::vector<std::string> sentences;
  std::pair<std::size_t, std::size_t> cells;
};

// Runs the plan into the file with these ranks beside rank 0; `before` is called when all ranks
// have read the plan.
Led led(
    const std::string& path,
    const std::string& output,
    const std::vector<Role>& roles,
    const std::function<void()>& before = [] {}) {
  const auto plan = plan_sweep(path).value();
  std::vector<SweepPlan> plans;
  for (std::size_t i = 0; i < roles.size(); ++i) plans.push_back(plan_sweep(path).value());
  before();
  Mail mail;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    threads.emplace_back([&, i] {
      ThreadRank own(mail, i + 1, roles.size() + 1);
      roles[i](own, plans[i]);
    });
  }
  ThreadRank first(mail, 0, roles.size() + 1);
  Followers followers(first);
  auto file = reports::SweepFile::open(output, plan.identity).value();
  const std::vector<SweepBlock> blocks = make_blocks(plan);
  Led result;
  const BlockHooks hooks{.done =
                             [&](const FinishedBlock& finished) {
                               return file.add(finished.block.source, finished.block.cells,
                                               finished.result);
                             },
                         .progress = {}};
  const LedSweep::Say say = [&](const std::string& sentence) {
    result.sentences.push_back(sentence);
  };
  LedSweep sweep(followers, plan, blocks, hooks, say);
  result.done = sweep.run(1);
  result.cells = sweep.cells_by_rank();
  if (result.done) {
    EXPECT_TRUE(file.finish().value());
  }
  return result;
}

class LedSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(test::run({"sweep", plan_, "-o", folder_ / "alone.db"}).status, 0);
  }

  // The sentences; checks that the tables are those of one process.
  std::vector<std::string> sentences_of(const std::vector<Role>& roles) {
    const Led result = led(plan_, folder_ / "run.db", roles);
    EXPECT_TRUE(result.done) << result.done.error().message;
    least_ = result.cells.first;
    EXPECT_EQ(test::table_dump(folder_ / "run.db"), test::table_dump(folder_ / "alone.db"));
    return result.sentences;
  }

  TemporaryFolder folder_;
  std::string plan_ = plan_in(folder_);
  std::size_t least_ = 0;  // cells that a rank ran
};

TEST_F(LedSweepTest, HasTheTablesOfOneProcess) {
  EXPECT_THAT(sentences_of({right, right}), IsEmpty());
  EXPECT_GT(least_, 0U);
}

TEST_F(LedSweepTest, HasTheTablesOfOneProcessForEvaluationsToo) {
  std::ofstream(plan_) << R"({"eval": {"model": ")" << test::a_model() << R"(", "texts": [")"
                       << test::a_text() << R"("], "tokens": 150, "windows": [0, 64],
      "open-loop": true, "policies": ["dense", "h2o", "random"], "budgets": [12], "seeds": 18}})";
  std::filesystem::remove(folder_ / "alone.db");
  ASSERT_EQ(test::run({"sweep", plan_, "-o", folder_ / "alone.db"}).status, 0);
  EXPECT_THAT(sentences_of({right, answers(RankWord::failed, "memory ran out")}), SizeIs(1));
}

TEST_F(LedSweepTest, GivesTheCellsOfAFailedRankToOthers) {
  EXPECT_THAT(sentences_of({answers(RankWord::failed, "memory ran out"), right}),
              ElementsAre("rank 1 on 'node' runs no more cells: memory ran out"));
}

TEST_F(LedSweepTest, DoesWithoutRanksThatCannotBegin) {
  const Role cannot = [](Ranks& ranks, const SweepPlan& /*plan*/) {
    refuse_rank(ranks, "there is no 'a.safetensors'");
  };
  EXPECT_THAT(sentences_of({cannot}),
              ElementsAre("rank 1 on 'node1' runs no more cells: there is no 'a.safetensors'"));
}

TEST_F(LedSweepTest, RefusesARankWithAnotherPlan) {
  EXPECT_THAT(sentences_of({other_plan, right}),
              ElementsAre(HasSubstr("another version of kvcheck, plan or trace ('0.0.9 0123'")));
}

TEST_F(LedSweepTest, ComputesAnewWhatAMessageLacks) {
  EXPECT_THAT(sentences_of({answers(RankWord::finished, "no parts at all")}), IsEmpty());
}

TEST_F(LedSweepTest, EndsIfNoRankIsLeft) {
  const std::string trace = folder_ / "changes.safetensors";
  std::filesystem::copy_file(test::a_trace(), trace);
  std::ofstream(plan_) << R"({"replay": {"traces": [")" << trace
                       << R"("], "policies": ["h2o"], "budgets": [8]}})";
  const auto change = [&] { std::ofstream(trace, std::ios::app) << "more"; };
  const Led result =
      led(plan_, folder_ / "run.db", {answers(RankWord::failed, "memory ran out")}, change);
  ASSERT_FALSE(result.done);
  EXPECT_THAT(result.done.error().message, HasSubstr("no rank is left that runs cells: "));
  EXPECT_THAT(result.sentences, SizeIs(2));
}

}  // namespace
}  // namespace kv::cli

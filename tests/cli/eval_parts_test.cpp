// An evaluation that stops anywhere is continued from its finished parts.
#include <map>
#include <mutex>
#include <set>

#include "kvcheck/cli/evaluate/cell_groups.h"
#include "kvcheck/cli/evaluate/eval.h"
#include "kvcheck/cli/evaluate/eval_open_loop.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/cli/evaluate/eval_run.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/cli/killed_run.h"

namespace kv {
namespace {

// Parts in memory.
class MemoryStore final : public PartStore {
 public:
  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override {
    const auto at = parts.find(key);
    if (at == parts.end()) return std::nullopt;
    return at->second;
  }

  void keep(std::vector<KeptPart> more) override {
    const std::lock_guard lock(mutex_);
    for (KeptPart& part : more) {
      const bool is_new = parts.emplace(part.key, std::move(part.bytes)).second;
      ++(is_new ? kept : again);
    }
  }

  std::map<std::string, std::vector<std::byte>> parts;
  std::size_t kept = 0;
  std::size_t again = 0;  // parts that were there

 private:
  std::mutex mutex_;
};

TEST(Resume, OfAnEvaluationIsTheSameWhereverItStopped) {
  const auto arguments = cli::Arguments::parse(
      cli::eval_command.options,
      test::Words{"--model", test::a_model(), "--text", test::a_text(), "--tokens", "90",
                  "--policy", "dense", "--policy", "h2o", "--budget", "16,24", "--chunk", "8",
                  "--windows", "0,48", "--threads", "2"});
  const auto plan = cli::plan_eval(*arguments);
  ASSERT_TRUE(plan) << plan.error().message;
  std::size_t calls = 0;
  const auto evaluated = [&](std::size_t stop, PartStore* parts) {
    calls = 0;
    return cli::run_eval(
        *plan, [&](double, const std::string&) { return ++calls != stop; }, parts);
  };
  const auto csv = [](const auto& results) { return reports::closed_loop_csv(*results); };
  const std::string expected = csv(evaluated(0, nullptr));
  const std::size_t all = calls;
  std::size_t most = 0;
  std::set<std::string> met;
  for (std::size_t stop = 1; stop <= all; ++stop) {
    MemoryStore store;
    static_cast<void>(evaluated(stop, &store));
    most = std::max(most, store.kept);
    const std::size_t kept = store.kept;
    std::string names;
    for (const auto& [name, bytes] : store.parts) names += name + ";";
    if (!met.insert(names).second) continue;  // an earlier stop left the same parts
    EXPECT_EQ(csv(evaluated(0, &store)), expected) << stop;
    EXPECT_EQ(store.kept, 6U) << "the plan has six parts, of which " << kept << " were kept";
  }
  EXPECT_GT(most, 3U);
}

// Cells that read large weights together are kept one by one, and what is missing is computed.
TEST(Resume, OfCellsThatReadWeightsTogetherIsTheSame) {
  const auto arguments = cli::Arguments::parse(
      cli::eval_command.options,
      test::Words{"--model", test::a_model(), "--text", test::a_text(), "--tokens", "90",
                  "--policy", "dense", "--policy", "h2o", "--policy", "random", "--budget", "16,24",
                  "--windows", "0,48", "--threads", "2"});
  auto plan = cli::plan_eval(*arguments);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->large_weights);
  const auto evaluated = [&](PartStore* parts) {
    double last = 0;
    const auto results = cli::run_eval(
        *plan,
        [&](double share, const std::string&) {
          EXPECT_GE(share, last - 1e-9);
          last = share;
          return true;
        },
        parts);
    EXPECT_NEAR(last, 1, 1e-9);
    return reports::closed_loop_csv(*results);
  };
  const std::string expected = evaluated(nullptr);
  plan->large_weights = true;
  MemoryStore store;
  EXPECT_EQ(evaluated(&store), expected);
  EXPECT_EQ(store.kept, 10U);  // five cells of two cuts
  for (const char* const lost : {"evaluation 1", "evaluation 3", "evaluation 7"}) {
    ASSERT_EQ(store.parts.erase(lost), 1U);
  }
  EXPECT_EQ(evaluated(&store), expected);
  EXPECT_EQ(store.kept, 13U);
  EXPECT_EQ(store.again, 0U) << "what was there was computed again";
}

TEST(CellGroups, HaveEightTokensAStepAtMost) {
  const auto sizes = [](const std::vector<std::string>& specs, bool large) {
    std::vector<Cell> cells;
    for (const std::string& spec : specs) cells.push_back({parse_spec(spec).value()});
    std::vector<std::size_t> counts;
    std::size_t before = 0;
    for (const auto group : cli::cell_groups(cells, large)) {
      EXPECT_EQ(group.data(), cells.data() + before);
      before += group.size();
      counts.push_back(group.size());
    }
    EXPECT_EQ(before, cells.size());
    return counts;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes({"dense", "h2o", "tova"}, false), (Sizes{1, 1, 1}));
  EXPECT_EQ(sizes({"dense", "h2o", "tova"}, true), Sizes{3});
  EXPECT_EQ(sizes(std::vector<std::string>(9, "h2o"), true), (Sizes{8, 1}));
  EXPECT_EQ(sizes({"h2o;chunk=4", "h2o;chunk=4", "h2o"}, true), (Sizes{2, 1}));
  EXPECT_EQ(sizes({"h2o;chunk=64", "tova;chunk=64"}, true), (Sizes{1, 1}));
  EXPECT_EQ(sizes({}, true), Sizes{});
}

TEST(Resume, OfAnOpenLoopUsesTheStreamsThatAreDone) {
  const auto arguments = cli::Arguments::parse(
      cli::eval_command.options,
      test::Words{"--model", test::a_model(), "--text", test::a_text(), "--tokens", "150",
                  "--policy", "h2o", "--budget", "16,24", "--windows", "48", "--open-loop"});
  const auto plan = cli::plan_eval(*arguments);
  ASSERT_TRUE(plan) << plan.error().message;
  const std::size_t streams = plan->texts.front().streams.size();
  ASSERT_GT(streams, 2U);
  const auto evaluated = cli::run_eval(*plan, [](double, const std::string&) { return true; });
  const auto csv = [&](PartStore* parts) {
    auto results = *evaluated;
    EXPECT_TRUE(cli::add_open_loop(
        *plan, results, [] { return true; }, parts));
    return reports::closed_loop_csv(results);
  };
  const std::string expected = csv(nullptr);
  MemoryStore store;
  EXPECT_EQ(csv(&store), expected);
  EXPECT_EQ(store.kept, streams);
  EXPECT_EQ(csv(&store), expected);
  EXPECT_EQ(store.kept, streams);
  store.parts.erase("open loop 0 stream 1");
  EXPECT_EQ(csv(&store), expected);
  EXPECT_EQ(store.kept, streams + 1);
}

}  // namespace
}  // namespace kv

// A replay that is cut short keeps its finished parts, and one that uses them has the same results.
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/replay_task.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

// Parts in memory. What is found is counted, and so is what is kept.
class MemoryStore final : public PartStore {
 public:
  [[nodiscard]] std::optional<std::span<const std::byte>> find(
      const std::string& key) const override {
    const std::lock_guard lock(mutex_);
    const auto at = parts.find(key);
    if (at == parts.end()) return std::nullopt;
    return at->second;
  }

  void keep(std::vector<KeptPart> more) override {
    const std::lock_guard lock(mutex_);
    for (KeptPart& part : more) {
      EXPECT_TRUE(parts.emplace(part.key, std::move(part.bytes)).second) << part.key;
      ++kept;
    }
  }

  std::map<std::string, std::vector<std::byte>> parts;
  std::size_t kept = 0;

 private:
  mutable std::mutex mutex_;
};

// Cells with units of several kinds; two differ only in their seed.
std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const char* spec :
       {"dense", "window:recent=7", "h2o:budget=12", "tova:budget=9;unit=head",
        "snapkv:budget=12;budgets=adaptive:0.2", "fifo:budget=8;timing=lazy:4"}) {
    all.push_back({parse_spec(spec).value(), 1});
  }
  for (const std::uint64_t seed : {1U, 2U}) {
    all.push_back({parse_spec("reservoir:budget=10").value(), seed});
  }
  return all;
}

// Everything that a replay measures, as the bytes of a results file.
std::string bytes_of(const ReplayResult& result) {
  const test::TemporaryFolder folder;
  auto writer = reports::ResultsWriter::begin(folder / "run.db", "test");
  EXPECT_TRUE(writer->add(result));
  EXPECT_TRUE(writer->finish());
  return test::read_text(folder / "run.db");
}

class ReplayParts : public testing::Test {
 protected:
  // The progress calls of the replay until it stops itself are `calls`; all of them if 0.
  Result<ReplayResult> run(unsigned threads, std::size_t calls = 0, PartStore* parts = nullptr) {
    ReplayOptions options;
    options.threads = threads;
    options.oracle = true;
    options.oracle_tokens = 200;
    options.parts = parts;
    called_ = 0;
    options.progress = [this, calls](double) { return ++called_ != calls; };
    return replay(trace_, cells_, options);
  }

  std::vector<Cell> cells_ = cells();
  Trace trace_ = random_qkv_trace({.tokens = 80, .layers = 2, .query_heads = 4, .kv_heads = 2});
  std::size_t called_ = 0;
};

TEST_F(ReplayParts, MakeTheSameResultWhereverTheReplayStopped) {
  const std::string expected = bytes_of(run(1).value());
  const std::size_t all = called_;
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::size_t most = 0;
    std::set<std::string> met;
    for (std::size_t stop = 1; stop <= all; ++stop) {
      MemoryStore store;
      const bool stopped = !run(threads, stop, &store);
      EXPECT_TRUE(stopped || threads > 1) << stop;
      most = std::max(most, store.kept);
      std::string names;
      for (const auto& [name, bytes] : store.parts) names += name + ";";
      if (!met.insert(names).second) continue;  // an earlier stop left the same parts
      const auto resumed = run(threads % 3 + 1, 0, &store);
      ASSERT_TRUE(resumed);
      ASSERT_EQ(bytes_of(*resumed), expected) << stop << " of " << all << ", threads " << threads;
    }
    EXPECT_GT(most, cells_.size()) << "some stops are late";
  }
}

TEST_F(ReplayParts, AreComputedOnce) {
  MemoryStore store;
  const std::string expected = bytes_of(run(2, 0, &store).value());
  const std::size_t kept = store.kept;
  EXPECT_EQ(bytes_of(run(7, 0, &store).value()), expected);
  EXPECT_EQ(store.kept, kept);
}

TEST_F(ReplayParts, DoNotDependOnTheThreads) {
  MemoryStore one;
  MemoryStore seven;
  ASSERT_TRUE(run(1, 0, &one));
  ASSERT_TRUE(run(7, 0, &seven));
  EXPECT_EQ(one.parts, seven.parts);
}

TEST_F(ReplayParts, AreComputedAgainIfTheyAreDamaged) {
  MemoryStore store;
  const std::string expected = bytes_of(run(1, 0, &store).value());
  for (auto& [key, bytes] : store.parts) {
    MemoryStore damaged;
    damaged.parts = store.parts;
    damaged.parts.at(key).pop_back();

    struct Replacing final : PartStore {
      explicit Replacing(MemoryStore& store) : store_(store) {}

      [[nodiscard]] std::optional<std::span<const std::byte>> find(
          const std::string& name) const override {
        return store_.find(name);
      }

      void keep(std::vector<KeptPart> parts) override {
        for (const KeptPart& part : parts) names.push_back(part.key);
      }

      std::vector<std::string> names;
      MemoryStore& store_;
    } replacing(damaged);

    EXPECT_EQ(bytes_of(run(1, 0, &replacing).value()), expected) << key;
    EXPECT_THAT(replacing.names, testing::ElementsAre(key));
  }
}

// Each point differs from the one before in one number alone.
std::vector<SeriesSums> points(std::size_t count) {
  std::vector<SeriesSums> all(count);
  for (std::size_t i = 1; i < count; ++i) {
    all[i] = all[i - 1];
    const double drawn = Rng(7).uniform(static_cast<Position>(i));
    SeriesSums& sums = all[i];
    const std::array<double*, 7> reals = {
        &sums.retained_mass, &sums.kl_to_dense, &sums.topk_overlap, &sums.output_error,
        &sums.stored,        &sums.kept,        &sums.visible};
    if (i % 9 < 7) *reals.at(i % 9) += drawn;
    if (i % 9 == 7) ++sums.rows;
    if (i % 9 == 8) ++sums.steps;
  }
  return all;
}

TEST_F(ReplayParts, KeepEveryNumberOfASeries) {
  MemoryStore store;
  ReplayOptions options;
  options.parts = &store;
  const std::size_t tokens = trace_.info().tokens;
  const Plan plan{.trace = trace_,
                  .cells = cells_,
                  .options = options,
                  .rotations = TraceRotations(trace_.info(), tokens),
                  .weights = QueryWeights(trace_.info(), 0)};
  Task task;
  task.lanes = {{0, 0}};
  CellPart part{.heads = {{}},
                .units = {{}},
                .series = {points(tokens)},
                .queries = {},
                .kept = std::vector<std::uint32_t>(tokens, 1),
                .lifetimes = std::vector<std::uint64_t>(tokens + 1, 300),
                .residency = {}};
  store.keep({{part_key(task, 3), bytes_of(part)}});
  const std::optional<CellPart> back = kept_part(plan, task, 3);
  ASSERT_TRUE(back);
  for (std::size_t i = 0; i < tokens; ++i) {
    const SeriesSums& a = part.series[0][i];
    const SeriesSums& b = back->series[0][i];
    EXPECT_EQ(std::tie(a.retained_mass, a.kl_to_dense, a.topk_overlap, a.output_error, a.stored,
                       a.kept, a.visible, a.rows, a.steps),
              std::tie(b.retained_mass, b.kl_to_dense, b.topk_overlap, b.output_error, b.stored,
                       b.kept, b.visible, b.rows, b.steps))
        << i;
  }
  EXPECT_EQ(back->kept, part.kept);
  EXPECT_EQ(back->lifetimes, part.lifetimes);
  EXPECT_FALSE(kept_part(plan, task, 2));
}

}  // namespace
}  // namespace kv

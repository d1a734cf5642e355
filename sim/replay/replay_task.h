// One task of a replay: the rows of some heads, fed to some cells on one thread. Private to sim/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/sim/replay/cell_state.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/samples/query_weights.h"

namespace kv {

// The inputs that all tasks of one replay share.
struct Plan {
  const Trace& trace;
  std::span<const Cell> cells;
  const ReplayOptions& options;
  TraceRotations rotations;
  std::vector<TokenClass> classes{};  // of the tokens; empty if no cell's policy needs them
  std::size_t series_width = 1;
  QueryWeights weights;  // of the trace's own facts, in which nothing is lost
  std::vector<QueryWeights> cell_weights{};
  std::vector<RecordedUnits> recorded{};  // per cell
};

// Some heads and some cells, and the results.
struct Task {
  std::vector<Lane> lanes;
  std::size_t group = 0;  // the number of these heads among the groups
  std::size_t first_cell = 0;
  std::size_t last_cell = 0;
  bool first_of_group = false;  // whether the task gathers the dense facts
  std::vector<CellPart> parts;
  std::vector<DenseFacts> facts;
};

// Counts finished queries over all tasks, reports them, and passes a request to stop to all
// threads.
class Progress {
 public:
  Progress(const std::function<bool(double)>& report, std::uint64_t total)
      : report_(report), total_(total) {}

  // Adds finished queries. Returns false if the replay should stop.
  bool advance(std::uint64_t queries) {
    const std::uint64_t done = done_.fetch_add(queries) + queries;
    if (report_ && !stopped_) {
      const std::lock_guard lock(mutex_);
      if (!stopped_ && !report_(static_cast<double>(done) / static_cast<double>(total_))) {
        stopped_ = true;
      }
    }
    return !stopped_;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const std::function<bool(double)>& report_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
};

// One task's share of it.
class TaskProgress {
 public:
  TaskProgress(Progress& all, const RunningTask& task) : all_(all), task_(task) {}

  // True if the task should go on.
  bool advance(std::uint64_t queries) { return all_.advance(queries) && !task_.stopped(); }

  [[nodiscard]] bool stopped() const { return all_.stopped() || task_.stopped(); }

 private:
  Progress& all_;
  const RunningTask& task_;
};

// The keys and values that a lane reads; null for attention traces.
std::shared_ptr<const KeyValues> open_key_values(const Plan& plan, const Lane& lane);

// The dense rows of one lane.
DenseRows open_rows(const Plan& plan, const Lane& lane, std::shared_ptr<const KeyValues> shared);

// The rows of every lane; lanes of one kv-head share its keys and values.
std::vector<DenseRows> open_lanes(const Plan& plan, const std::vector<Lane>& lanes);

// The name under which the part of that cell, by its index in the plan, and the dense facts are
// kept. It does not depend on how groups were divided into tasks.
std::string part_key(const Task& task, std::size_t cell);
std::string facts_key(const Task& task);
inline constexpr const char* map_key = "map";

// Parts as bytes, and what the plan's store keeps; nothing if that has none, or none that fits.
std::vector<std::byte> bytes_of(const CellPart& part);
std::vector<std::byte> bytes_of(const std::vector<DenseFacts>& facts);
std::vector<std::byte> bytes_of(const AttentionMap& map);
std::optional<CellPart> kept_part(const Plan& plan, const Task& task, std::size_t cell);
std::optional<std::vector<DenseFacts>> kept_facts(const Plan& plan, const Task& task);
std::optional<AttentionMap> kept_map(const Plan& plan);

// Replays the cells of the task that the plan's store does not have; it has no parts yet if it is
// stopped.
Result<void> run_task(const Plan& plan, Task& task, TaskProgress& progress);

}  // namespace kv

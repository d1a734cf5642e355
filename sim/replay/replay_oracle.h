// The oracle's part of a replay: bounds for every unit of every cell. Private to sim/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/sim/replay/replay_task.h"

namespace kv {

// One unit under the limits of all cells. Cells that differ only in their policy or seed have the
// same limits and the same bounds.
struct OracleTask {
  struct Limited {
    std::shared_ptr<const std::vector<std::uint32_t>> limits;  // [tokens], for all units
    std::vector<std::size_t> cells;                            // the cells with these limits
    bool selects = false;  // queries select tokens: only the per-step bound holds
    UnitBounds bounds;
    bool kept = false;  // the bounds are from the plan's store
  };

  std::vector<Lane> lanes;
  std::vector<Limited> limited;
  std::size_t index = 0;  // among the tasks
};

// One task per unit, for each way in which cells divide the heads into units; none if the plan's
// options do not ask for the oracle.
std::vector<OracleTask> make_oracle_tasks(const Plan& plan);

// The total by which the tasks will advance the progress.
std::uint64_t oracle_work(const Plan& plan, const std::vector<OracleTask>& tasks);

// Computes the task's bounds that the plan's store does not have; not all of them if it is stopped.
Result<void> run_oracle_task(const Plan& plan, OracleTask& task, TaskProgress& progress);

// Gives each cell the bounds of its units.
void add_bounds(const std::vector<OracleTask>& tasks, std::vector<CellResult>& cells);

}  // namespace kv

// What the cells of a plan run on, and how: one class for each kind of plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/reports/sweeps/sweep_results.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// A trace, a text at one size of windows, a task file, or a length of prompts in one run of
// timings.
struct PlannedSource {
  std::string name;                // for people
  std::vector<std::size_t> cells;  // indices into SweepPlan::cells of those that run, increasing
};

// How some cells of one source are run.
struct WorkOptions {
  unsigned threads = 1;
  // Receives the share that is done, on any thread; false stops.
  std::function<bool(double share)> progress{};
  // If not null, receives finished parts and is asked for them first.
  PartStore* parts = nullptr;
};

class PlannedWork {
 public:
  PlannedWork() = default;
  PlannedWork(const PlannedWork&) = delete;
  PlannedWork& operator=(const PlannedWork&) = delete;
  virtual ~PlannedWork() = default;

  [[nodiscard]] virtual std::span<const PlannedSource> sources() const = 0;

  // The checksums of what the cells run on and with, as text.
  [[nodiscard]] virtual std::string inputs() const = 0;

  // Of all that decides a cell of the source besides its spec and seed, as results files hold it
  // (ModelInputs::cell). 0: they hold none of this kind.
  [[nodiscard]] virtual std::uint64_t inputs_of_cells(std::size_t /*source*/) const { return 0; }

  // How many cells of a source are run together at most.
  [[nodiscard]] virtual std::size_t most_cells() const = 0;

  // Whether the cells are timed: blocks then run in their order, one at a time, in one process and
  // with nothing beside, on as many threads as the plan says. Their results differ from run to run.
  [[nodiscard]] virtual bool timed() const { return false; }

  // The cost of these cells of a source together, in a unit that depends on the machine.
  [[nodiscard]] virtual double cost(std::size_t source, std::span<const Cell> cells) const = 0;

  // Runs the cells. The results do not depend on threads, on parts and on which cells are run
  // together. Any thread may call it, several at once. Errors: those of the run; stopped; a file
  // that is no longer the one that the plan was checked with.
  [[nodiscard]] virtual Result<reports::SweepResult> run(std::size_t source,
                                                         std::span<const Cell> cells,
                                                         const WorkOptions& options) const = 0;

  // Upper bounds of what run() holds at one time; the first is the program's own.
  [[nodiscard]] virtual std::vector<MemoryNeed> needs(std::size_t source,
                                                      std::span<const Cell> cells,
                                                      unsigned threads) const = 0;

  // About how many bytes of a results file the source takes without its cells, and one of these.
  [[nodiscard]] virtual std::uint64_t bytes_of_source(std::size_t source) const = 0;
  [[nodiscard]] virtual std::uint64_t bytes_of_cell(std::size_t source, const Cell& cell) const = 0;

  // Seconds per unit of cost on one thread of this machine: measures some of the cells for about a
  // tenth of a second.
  [[nodiscard]] virtual Result<double> pace(std::size_t source,
                                            std::span<const Cell> cells) const = 0;
};

}  // namespace kv::cli

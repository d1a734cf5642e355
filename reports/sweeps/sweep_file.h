// The run of one sweep in a results file, to which finished cells are added in any order.
//
// The plan gives each cell its place, and the place gives the rows their ids. The tables therefore
// hold the same bytes whatever the order of the cells, the number of threads, shards or restarts.
// Each call of add() or add_all() is one transaction that is on the disk when it returns.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// Cells of one source, one for each place.
struct FinishedCells {
  std::size_t source = 0;  // its index in the plan
  std::vector<std::size_t> places{};
  SweepResult result{};
};

class SweepFile {
 public:
  // Opens or creates the file. A run of this version and identity is continued if it is complete or
  // the newest of the file; otherwise a new one begins, because the ids after an older run are
  // taken. Errors: those of open_to_write.
  static Result<SweepFile> open(const std::string& path, const SweepIdentity& sweep);

  SweepFile(SweepFile&& other) noexcept;
  SweepFile& operator=(SweepFile&&) = delete;
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;
  ~SweepFile();

  // Whether the run is marked complete.
  [[nodiscard]] bool complete() const;

  [[nodiscard]] bool holds(const SweepPlace& place) const;

  // How many cells the run holds.
  [[nodiscard]] std::size_t held() const;

  // Adds the cells of `result`, one for each place, all of the source with this index. What is held
  // already is not added again. Requires a result of the sweep's kind.
  Result<void> add(std::size_t source,
                   std::span<const std::size_t> places,
                   const SweepResult& result);

  // Adds cells of several sources, no cell twice: all of them, or after an error none. Where cells
  // take less time than a disk takes to be sure of them, one call for many of them is faster.
  Result<void> add_all(std::span<const FinishedCells> finished);

  // The source of a place that is held, with the cell at this place alone.
  Result<SweepResult> at(const SweepPlace& place);

  // What another run of this version in the file holds of the cell on a trace with this checksum,
  // name aside: the trace with this one cell. Nothing if there is none.
  Result<std::optional<ReplayResult>> earlier(const TraceInfo& trace,
                                              std::size_t top_k,
                                              const Cell& cell);

  // The same of evaluations and tasks, whose source with all that decides a cell has this number
  // (ModelInputs::cell).
  Result<std::optional<SweepResult>> earlier(std::uint64_t inputs, const Cell& cell);

  // Marks the run complete if it holds all cells of the plan. Returns whether it does.
  Result<bool> finish();

  // If open() began the run, removes it and all its cells, and the file if it was created. A run
  // that was continued keeps what it holds. No call may follow.
  void discard();

 private:
  struct State;
  explicit SweepFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kv::reports

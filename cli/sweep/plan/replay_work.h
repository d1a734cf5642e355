// Replays of the traces of a plan.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/cli/sweep/plan/planned_work.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {

// The traces of a plan. A file remains mapped; a synthetic stream is made when it is needed, and
// again if nothing uses it any more, because many of them would not fit in memory.
class PlannedTraces {
 public:
  explicit PlannedTraces(const PlanText& text)
      : sources_(text.sources),
        marks_(text.marks),
        kv_heads_(text.kv_heads),
        slots_(text.sources.size()) {}

  // The trace with this index. Errors: those of open_source_dump; a file that is no longer the one
  // that the plan was checked with. Any thread may call it.
  Result<std::shared_ptr<const Trace>> open(std::size_t index,
                                            const ReadingProgress& progress = {});

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Trace> file;     // of a file
    std::weak_ptr<const Trace> synthetic;  // of a stream that is in use
  };

  std::vector<std::string> sources_;
  Marks marks_;
  std::size_t kv_heads_;
  std::vector<Slot> slots_;
};

// Leaves of the cell what a plan of this detail keeps.
void keep_detail(Detail detail, CellResult& cell);

class ReplayWork final : public PlannedWork {
 public:
  explicit ReplayWork(const PlanText& text) : text_(text), traces_(text) {}

  // Opens and checks the next trace of the plan. A sentence about cells that do not fit it is added
  // to `left_out`. Errors: the trace cannot be opened, is given twice, or cannot serve a cell.
  Result<void> add(std::span<const PlannedCell> cells,
                   const ReadingProgress& progress,
                   std::vector<std::string>& left_out);

  [[nodiscard]] const TraceInfo& info(std::size_t source) const { return infos_[source]; }

  // Queries for each point of the series that the plan keeps of the trace.
  [[nodiscard]] std::size_t series_width(std::size_t source) const;

  [[nodiscard]] std::span<const PlannedSource> sources() const override { return planned_; }

  [[nodiscard]] std::string inputs() const override;

  // A row of attention is read once for all cells of a block, so a block of many cells reads its
  // trace less often; one of few is sooner finished, and easier to deal.
  [[nodiscard]] std::size_t most_cells() const override { return 16; }

  // It is proportional to the pairs of queries and keys of all heads, and a cell costs about as
  // much as the dense rows do.
  [[nodiscard]] double cost(std::size_t source, std::span<const Cell> cells) const override;
  [[nodiscard]] Result<reports::SweepResult> run(std::size_t source,
                                                 std::span<const Cell> cells,
                                                 const WorkOptions& options) const override;
  [[nodiscard]] std::vector<MemoryNeed> needs(std::size_t source,
                                              std::span<const Cell> cells,
                                              unsigned threads) const override;
  [[nodiscard]] std::uint64_t bytes_of_source(std::size_t source) const override;
  [[nodiscard]] std::uint64_t bytes_of_cell(std::size_t source, const Cell& cell) const override;
  [[nodiscard]] Result<double> pace(std::size_t source, std::span<const Cell> cells) const override;

 private:
  [[nodiscard]] ReplayOptions replay_options(unsigned threads) const;

  PlanText text_;
  mutable PlannedTraces traces_;
  std::vector<TraceInfo> infos_;
  std::vector<PlannedSource> planned_;
};

}  // namespace kv::cli

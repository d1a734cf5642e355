// A checked plan of `kvcheck sweep`: every trace was opened, and every cell can run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/sweep/plan_text.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {

// The traces of a plan. A file remains mapped; a synthetic stream is made when it is needed, and
// again if nothing uses it any more, because many of them would not fit in memory.
class PlannedTraces {
 public:
  explicit PlannedTraces(const PlanText& text)
      : sources_(text.traces),
        marks_(text.marks),
        kv_heads_(text.kv_heads),
        slots_(text.traces.size()) {}

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

struct PlannedTrace {
  TraceInfo info;
  std::vector<std::size_t> cells;  // indices into SweepPlan::cells of those that run, increasing
};

struct SweepPlan {
  PlanText text;
  std::vector<Cell> cells;            // of each trace, before any is left out
  std::vector<PlannedTrace> traces;   // in the order of the text
  std::vector<std::string> left_out;  // a sentence for each trace that some cells do not fit
  reports::SweepIdentity identity;
  std::unique_ptr<PlannedTraces> sources;
};

// Reads and checks the file. Errors: those of parse_plan, and with the field that names it, an
// unknown policy, a trace that cannot be opened, a cell that a trace cannot serve, two traces or
// two cells that are the same, and a plan none of whose cells can run.
Result<SweepPlan> plan_sweep(const std::string& path, const ReadingProgress& progress = {});

}  // namespace kv::cli

// The figure of timings.
#pragma once

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// Time per token, time in attention, bytes of keys and values and the largest memory against the
// length of the prompt, as medians of the runs, with a line per policy and budget. The figure has
// no body if there is only one length. `page` is that of Sweep.
Figure timing_figure(const TimingResult& timings, Page page = {}, const Renaming& renaming = {});

}  // namespace kv::reports

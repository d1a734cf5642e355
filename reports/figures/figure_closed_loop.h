// The figures of an evaluation.
#pragma once

#include <vector>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// All figures for which the result has numbers: perplexity against position, perplexity and recall
// against budget, recall by distance. `page` is that of Sweep.
std::vector<Figure> closed_loop_figures(const ClosedLoopResult& result,
                                        Page page = {},
                                        const Renaming& renaming = {});

}  // namespace kv::reports

// The figures of the answers to a task file.
#pragma once

#include <vector>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// All figures for which the result has numbers: exact answers and their loss by spec, and exact
// answers by group as a map. If every group's name ends in " at " and a number, as
// `kvcheck tasks --by-depth` writes the place of a fact, the map has an axis of these numbers.
// Seeds are averaged. `page` is that of Sweep.
std::vector<Figure> task_figures(const TaskResult& result,
                                 Page page = {},
                                 const Renaming& renaming = {});

}  // namespace kv::reports

// The figures of a report, each built from one trace's results.
#pragma once

#include <vector>

#include "kvcheck/reports/numbers/sweep.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"

namespace kv::reports {

// All figures for which the results have numbers, in the report's order. `page` is that of
// Sweep.
std::vector<Figure> figures_of(const ReplayResult& result,
                               Page page = {},
                               const Renaming& renaming = {});

// The single figures. A figure without a body has nothing to show.
Figure budget_figure(const Sweep& sweep);     // retained mass and output error against budget
Figure oracle_figure(const Sweep& sweep);     // the share of the optimum against budget
Figure stream_figure(const Sweep& sweep);     // the same over the stream
Figure sizes_figure(const Sweep& sweep);      // rows stored and visible over the stream
Figure residency_figure(const Sweep& sweep);  // which tokens were resident, by step
Figure inclusion_figure(const Sweep& sweep);  // which tokens are resident at the end
Figure attention_figure(const Sweep& sweep);  // one head's attention, and what of it was kept
Figure lifetime_figure(const Sweep& sweep);   // how long tokens are resident
Figure heads_figure(const Sweep& sweep);      // retained mass by layer and head

}  // namespace kv::reports

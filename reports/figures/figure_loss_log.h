// Logs of other programs as a figure.
#pragma once

#include <span>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/tables/loss_log.h"

namespace kv::reports {

// Perplexity against position, with a panel per model. Requires at least one model.
Figure loss_log_figure(std::span<const LossLogs> models);

}  // namespace kv::reports

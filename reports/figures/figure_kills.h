// The kill matrix as a figure.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/tables/kill_matrix.h"

namespace kv::reports {

// Mutants down, laws across. Without a body if there are no mutants.
Figure kill_matrix_figure(const KillMatrix& matrix);

// Writes kill-matrix.svg, .png, .csv and .md into `folder`, made if it is not there. Errors: those
// of draw(), a full disk.
Result<void> draw_kill_matrix(const KillMatrix& matrix, const std::string& folder);

}  // namespace kv::reports

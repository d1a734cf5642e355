// The kill matrix as a figure.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/tables/kill_matrix.h"

namespace kv::reports {

// One row per mutant, one column per law. The figure has no body if there are no mutants.
Figure kill_matrix_figure(const KillMatrix& matrix);

// Writes kill-matrix.svg, .png, .csv and .md into `folder`, which is created if it does not exist.
// Errors: those of draw(), a full disk.
Result<void> draw_kill_matrix(const KillMatrix& matrix, const std::string& folder);

}  // namespace kv::reports

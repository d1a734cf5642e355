// Which results of a file `kvcheck compare` compares.
#pragma once

#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// From --policies and --window. Error: the one file has evaluations in windows of several sizes,
// and --window says none. Requires both options in the table.
Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const reports::StoredRun> runs);

}  // namespace kv::cli

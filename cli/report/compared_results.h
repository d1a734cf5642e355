// Which results of a file `kvcheck compare` compares.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// From --policies, --window and --length. `files` are the runs of each file. Errors: the one file
// has evaluations in windows of several sizes, and --window says none; a measure is of timings, and
// the files have several lengths of which --length says none, or not the one that it says;
// --length, but no such measure. Requires all three options in the table.
Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const std::vector<reports::StoredRun>> files,
                                        std::span<const reports::Measure> measures);

}  // namespace kv::cli

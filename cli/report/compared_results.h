// Which results of a file `kvcheck compare` compares.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// From --policies, --window, --length and --layer. `files` are the runs of each file. Errors: the
// one file has evaluations in windows of several sizes, and --window says none; a measure is of
// timings, and the files have several lengths of which --length says none, or not the one that it
// says; --length, but no such measure; --layer, and a measure that is not of replays, or replays
// whose heads are not kept or not of this layer. Requires all four options in the table.
Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const std::vector<reports::StoredRun>> files,
                                        std::span<const reports::Measure> measures);

}  // namespace kv::cli

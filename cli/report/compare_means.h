// `kvcheck compare --means`: means of several measures in one table.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// Prints or writes the table of these measures of the runs. Error: none of them was measured.
Result<void> compare_means(std::span<const reports::StoredRun> runs,
                           std::span<const reports::Measure> measures,
                           const reports::Selection& selection,
                           const Outputs& outputs,
                           Streams& streams);

}  // namespace kv::cli

// `kvcheck compare --means`: means of several measures in one table.
#pragma once

#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/reports/compare/measured.h"

namespace kv::cli {

// What the table is of.
struct MeansOf {
  std::string file;
  std::span<const reports::StoredRun> runs;
  std::span<const reports::Measure> measures;
  bool named = false;  // the user named these measures
};

// Prints or writes the table of these measures of the runs of `file`. Those that were not measured
// are left out; with `named` a note on standard error says which. Error: none of them was.
Result<void> compare_means(const MeansOf& of,
                           const reports::Selection& selection,
                           const Outputs& outputs,
                           Streams& streams);

}  // namespace kv::cli

// What the measures of results files do not tell.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/store/results.h"

namespace kv::cli {

// Notes of each file if its newest run did not finish, and of two files if other commands made
// their runs, because results hold few of a command's settings. `runs` are those of each file that
// count. Gives in place of a note the sentences that make the second file incomplete.
std::vector<std::string> about_runs(std::span<const std::string> files,
                                    std::span<const std::vector<reports::StoredRun>> runs,
                                    std::ostream& notes);

}  // namespace kv::cli

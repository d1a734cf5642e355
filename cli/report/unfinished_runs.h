// Runs that did not finish, where results are shown.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "kvcheck/reports/store/results.h"

namespace kv::cli {

// Notes which of the runs that are shown did not finish, and, if none was asked for by its number,
// whether the newest run of the file is not shown for that reason.
void note_unfinished(const std::string& path,
                     std::span<const reports::RunSummary> shown,
                     bool by_number,
                     std::ostream& notes);

}  // namespace kv::cli

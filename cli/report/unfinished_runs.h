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

// A sentence if the newest run of the file did not finish, so that what counts only finished runs
// does not count it; empty otherwise.
std::string unfinished_words(const std::string& path);

}  // namespace kv::cli

// The explorer of a report.
#pragma once

#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/store/results.h"

namespace kv::reports {

// The page that steps through the streams of a run, with the first seed of each spec only if all
// would be too much for a report; empty if no stream has its residency recorded, or if that is too
// much too. Errors: no memory.
Result<std::string> explorer_of_report(const StoredRun& run, std::span<const ExplorerTrace> traces);

}  // namespace kv::reports

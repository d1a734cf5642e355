// All finished runs of a results file.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/results.h"

namespace kv::reports {

// Every run that is complete, oldest first; none if all were interrupted. Errors: as list_runs()
// and read_run().
Result<std::vector<StoredRun>> complete_runs(const std::string& path);

}  // namespace kv::reports

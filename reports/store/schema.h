// The schema of a results file (reports/SCHEMA.md), made and checked.
#pragma once

#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"

namespace kv::reports {

// "kvck" in ASCII: what `PRAGMA application_id` says of every results file.
inline constexpr std::int64_t results_application_id = 0x6b76636b;

// `PRAGMA user_version`. Any change to the tables raises it.
inline constexpr std::int64_t results_schema_version = 4;

// Makes the tables in an empty database, in one transaction.
Result<void> create_schema(Database& database);

// Ok when the database holds exactly the tables of this version: nothing that only looks like one
// is read, so no view or trigger of a foreign file ever runs.
Result<void> check_schema(Database& database);

}  // namespace kv::reports

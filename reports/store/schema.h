// Creates and checks the schema of a results file (reports/SCHEMA.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"

namespace kv::reports {

// "kvck" in ASCII: what `PRAGMA application_id` says of every results file.
inline constexpr std::int64_t results_application_id = 0x6b76636b;

// `PRAGMA user_version`. Every change to the tables must raise it. A version only adds tables and
// views, so that files of the oldest version are still read.
inline constexpr std::int64_t results_schema_version = 13;
inline constexpr std::int64_t oldest_schema_version = 4;

// Creates the tables in an empty database, in one transaction.
Result<void> create_schema(Database& database);

// Returns an error unless the database declares exactly the tables of its version, which this
// program knows. A file that only resembles one is not read, so that no view or trigger of a
// foreign file ever runs.
Result<void> check_schema(Database& database);

// Adds what the database's version lacks, in one transaction. Requires check_schema.
Result<void> upgrade_schema(Database& database);

// Whether the database has a table that older versions lack.
Result<bool> has_table(Database& database, std::string_view name);

}  // namespace kv::reports

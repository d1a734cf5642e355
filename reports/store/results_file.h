// A results file as a database, opened to read or to write, and the rows of its runs.
#pragma once

#include <cstdint>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/store/write_lock.h"

namespace kv::reports {

// Opens an existing file and checks its tables. Errors: no file, a folder, empty, not a results
// file, another schema version.
Result<Database> open_to_read(const std::string& path);

// The lock is declared first so that it is released last: closing any descriptor of the file drops
// the POSIX locks that SQLite holds on it.
struct WritableResults {
  WriteLock lock;
  Database database;
};

// Opens or creates the file, with the tables of the newest version. Errors: not a results file,
// another schema version, damaged, being written by another process, no permission, disk full.
Result<WritableResults> open_to_write(const std::string& path);

// Begins a run of this version, with the status `running`. Returns its id.
Result<std::int64_t> insert_run(Database& database, const std::string& command);

// Deletes all rows of the run, in one transaction.
Result<void> delete_run(Database& database, std::int64_t run);

}  // namespace kv::reports

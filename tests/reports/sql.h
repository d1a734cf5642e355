// Statements of SQL on a results file, to look at its rows or to change them as kvcheck would not.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <string>

namespace kv::test {

// How many rows the statement gives. An error of SQLite fails the test.
inline std::size_t run_sql(const std::string& path, const std::string& statement) {
  sqlite3* handle = nullptr;
  std::size_t rows = 0;
  const auto count = [](void* total, int, char**, char**) {
    ++*static_cast<std::size_t*>(total);
    return 0;
  };
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK) << path;
  EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), count, &rows, nullptr), SQLITE_OK)
      << statement << ": " << sqlite3_errmsg(handle);
  sqlite3_close(handle);
  return rows;
}

}  // namespace kv::test

// A thin layer over SQLite's C interface: handles that close themselves, and errors as sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kvcheck/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kv::reports {

// An open database. The object can be moved but not copied.
class Database {
 public:
  // Opens an existing file, for writing if its permissions allow it, because a reader must be able
  // to roll back what a killed writer left unfinished. Nothing is read yet.
  static Result<Database> open(const std::string& path);

  // An empty database in memory.
  static Result<Database> in_memory();

  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs statements that return no rows and have no parameters.
  Result<void> execute(const char* sql);

  // The error of a call that returned this code, as one sentence about the file.
  [[nodiscard]] Error error(int code) const;

  // That the disk did not give what SQLite last asked for, if so. SQLite calls a file corrupt whose
  // bytes it cannot read, although it may be whole.
  [[nodiscard]] std::optional<Error> read_failure() const;

  [[nodiscard]] sqlite3* handle() const { return handle_; }

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] std::int64_t last_id() const;

 private:
  friend class Statement;

  Database(sqlite3* handle, std::string path);

  sqlite3* handle_ = nullptr;
  std::string path_;
  // By their text: statements that were prepared before and are not in use, or null. The cells of a
  // file are read by the same few, one cell after another, and to prepare them takes longest.
  std::unordered_map<std::string, sqlite3_stmt*> idle_;
};

// A prepared statement. Parameters are bound in order. An error in preparing or binding is returned
// by the next step. The database must outlive the statement.
class Statement {
 public:
  Statement(Database& database, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Steps to the next row; false if there is none. Also returns the error of right_types().
  Result<bool> next();

  // An error if a column was read as another type than it holds: SQLite keeps a text in a column of
  // numbers, and would read it as 0. It names the column.
  [[nodiscard]] Result<void> right_types() const;

  // Binds the values to all parameters, runs the statement and resets it for the next call. Text
  // and blobs must live until the call returns. NaN is stored as NULL.
  template <typename... Values>
  Result<void> run(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return finish();
  }

  template <typename... Values>
  void bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
  }

  // The columns of the current row, from 0. Views are valid until the next step. NULL reads as 0,
  // NaN or empty.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::uint64_t count(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;

 private:
  void bind(int index, std::int64_t value);
  void bind(int index, std::uint64_t value);
  void bind(int index, std::uint32_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, std::span<const std::byte> value);
  void check(int code);
  Result<void> finish();

  // Remembers the first column that holds neither this type nor NULL.
  void expect_type(int column, int type) const;
  [[nodiscard]] std::span<const std::byte> bytes_at(int column) const;

  Database& database_;
  sqlite3_stmt*& idle_;  // its place in the database between uses
  sqlite3_stmt* handle_ = nullptr;
  int code_ = 0;                  // of the first call that failed
  mutable std::string mistyped_;  // the name of that column; empty: none
};

// A transaction. The destructor rolls it back unless it was committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  // An error if the transaction could not begin.
  [[nodiscard]] const Result<void>& begun() const { return begun_; }

  Result<void> commit();

 private:
  Database& database_;
  Result<void> begun_;
  bool open_ = false;
};

}  // namespace kv::reports

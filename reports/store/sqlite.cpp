#include "kvcheck/reports/store/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kvcheck/base/text/printable.h"

namespace kv::reports {
namespace {

// How long to wait for a reader or a writer that is in the middle of a transaction.
constexpr int patience_ms = 10'000;

Result<sqlite3*> open_handle(const std::string& path, const char* name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name, &handle, flags, nullptr);
  if (code == SQLITE_OK) return handle;
  const std::string reason = handle == nullptr ? "out of memory" : sqlite3_errmsg(handle);
  sqlite3_close(handle);
  return io_error("cannot open '" + path + "': " + reason);
}

}  // namespace

Database::Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {
  sqlite3_busy_timeout(handle_, patience_ms);
}

Result<Database> Database::open(const std::string& path) {
  // SQLite gives names such as ":memory:" and "file:x" a meaning of their own; "./" before them
  // prevents it.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  const auto handle = open_handle(path, name.c_str(), SQLITE_OPEN_READWRITE);
  if (!handle) return handle.error();
  return Database(*handle, path);
}

Result<Database> Database::in_memory() {
  const auto handle = open_handle("", ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!handle) return handle.error();
  return Database(*handle, "");
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      idle_(std::move(other.idle_)) {}

Database::~Database() {
  for (const auto& [text, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Result<void> Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Error Database::error(int code) const {
  const std::string file = "'" + path_ + "'";
  const std::optional<Error> unread = read_failure();
  if ((code & 0xff) == SQLITE_CORRUPT && unread) return *unread;
  // SQLite shows parts of the file.
  const std::string reason = printable_line(sqlite3_errmsg(handle_));
  switch (code & 0xff) {  // without the extended code
    case SQLITE_NOTADB:
      return malformed(file + " is not a kvcheck results file");
    case SQLITE_CORRUPT:
      return malformed(file + " is damaged: " + reason);
    case SQLITE_FULL:
      return io_error("cannot write " + file + ": the disk is full");
    case SQLITE_READONLY:
      // The name has no file, or another one, to which the journal would not belong.
      if (sqlite3_extended_errcode(handle_) == SQLITE_READONLY_DBMOVED) {
        return io_error("cannot write " + file +
                        ": it was removed or replaced while it was open, and what was written to " +
                        "it is lost");
      }
      return io_error("cannot write " + file + ": it is read-only");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Error::Kind::busy, file + " is in use by another process; try again when it is done"};
    case SQLITE_IOERR:
      return io_error("cannot read or write " + file + ": " + reason);
    case SQLITE_NOMEM:
      return io_error("cannot use " + file + ": out of memory");
    default:
      break;
  }
  return io_error("cannot use " + file + ": " + reason);
}

std::optional<Error> Database::read_failure() const {
  int reason = 0;
  sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_LAST_ERRNO, &reason);
  if (reason == 0) return std::nullopt;
  return io_error("cannot read '" + path_ + "': " + std::strerror(reason));
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

Statement::Statement(Database& database, const char* sql)
    : database_(database), idle_(database.idle_[sql]), handle_(std::exchange(idle_, nullptr)) {
  if (handle_ != nullptr) return;
  check(sqlite3_prepare_v2(database_.handle(), sql, -1, &handle_, nullptr));
}

// One that was not prepared is null, and another of the same text may be idle, if both were in use.
Statement::~Statement() {
  if (handle_ == nullptr || idle_ != nullptr) {
    sqlite3_finalize(handle_);
    return;
  }
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  idle_ = handle_;
}

void Statement::check(int code) {
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(handle_, index, value));
}

// SQLite has no unsigned integers. Only seeds and checksums need 64 bits, and they are stored as
// text.
void Statement::bind(int index, std::uint64_t value) {
  bind(index, static_cast<std::int64_t>(value));
}

void Statement::bind(int index, std::uint32_t value) {
  bind(index, static_cast<std::int64_t>(value));
}

void Statement::bind(int index, double value) {
  check(sqlite3_bind_double(handle_, index, value));
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL instead of an empty text.
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(handle_, index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int index, std::span<const std::byte> value) {
  const void* bytes = value.empty() ? static_cast<const void*>("") : value.data();
  check(sqlite3_bind_blob64(handle_, index, bytes, value.size(), SQLITE_STATIC));
}

Result<bool> Statement::next() {
  if (code_ != SQLITE_OK) return database_.error(code_);
  if (const Result<void> right = right_types(); !right) return right.error();
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.error(code);
}

Result<void> Statement::right_types() const {
  if (mistyped_.empty()) return {};
  return malformed("'" + database_.path() + "' is damaged: column " + mistyped_ +
                   " does not hold what kvcheck writes there");
}

void Statement::expect_type(int column, int type) const {
  const int found = sqlite3_column_type(handle_, column);
  if (found == type || found == SQLITE_NULL || !mistyped_.empty()) return;
  mistyped_ = sqlite3_column_name(handle_, column);
}

Result<void> Statement::finish() {
  if (const auto row = next(); !row) {
    const Error error = row.error();
    sqlite3_reset(handle_);
    return error;
  }
  sqlite3_reset(handle_);
  return {};
}

std::int64_t Statement::integer(int column) const {
  expect_type(column, SQLITE_INTEGER);
  return sqlite3_column_int64(handle_, column);
}

std::uint64_t Statement::count(int column) const {
  return static_cast<std::uint64_t>(integer(column));
}

double Statement::real(int column) const {
  expect_type(column, SQLITE_FLOAT);
  if (sqlite3_column_type(handle_, column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(handle_, column);
}

std::string Statement::text(int column) const {
  expect_type(column, SQLITE_TEXT);
  const std::span<const std::byte> bytes = bytes_at(column);
  std::string out(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::span<const std::byte> Statement::blob(int column) const {
  expect_type(column, SQLITE_BLOB);
  return bytes_at(column);
}

std::span<const std::byte> Statement::bytes_at(int column) const {
  const void* bytes = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

// IMMEDIATE, so that a second writer waits here and not in the middle of its work.
Transaction::Transaction(Database& database)
    : database_(database), begun_(database.execute("BEGIN IMMEDIATE")), open_(begun_.has_value()) {}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::commit() {
  Result<void> done = database_.execute("COMMIT");
  if (done) open_ = false;
  return done;
}

}  // namespace kv::reports

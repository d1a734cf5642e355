// Helpers for all readers of rows: checks of columns, and a loop over rows.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/blob.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::reports {

// Collects columns whose value kvcheck cannot have written; the first one becomes the error.
class Doubts {
 public:
  explicit Doubts(std::string path) : path_(std::move(path)) {}

  // `holds` says whether the value of the column is possible.
  void require(bool holds, std::string_view column) {
    if (!holds && column_.empty()) column_ = column;
  }

  // `spec` was read from the text of the column. Its policy may be a user's own.
  void require_spec(const Result<Spec>& spec, std::string_view text, std::string_view column) {
    if (!spec && column_.empty()) unknown_ = unknown_policy(text);
    require(spec.has_value(), column);
  }

  [[nodiscard]] bool any() const { return !column_.empty(); }

  [[nodiscard]] Error error() const {
    if (!unknown_.empty()) {
      return {Error::Kind::unsupported,
              "'" + path_ + "' has results of the policy '" + unknown_ +
                  "', which is not known here; name the file that defines it with --load FILE "
                  "before the command"};
    }
    return malformed("'" + path_ + "' is damaged: column " + column_ +
                     " does not hold what kvcheck writes there");
  }

 private:
  // The name that a spec begins with, if a policy could have it and none has.
  static std::string unknown_policy(std::string_view text) {
    const std::string_view name = name_in(text);
    const bool possible =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
    return possible && !policy_named(name) ? std::string(name) : "";
  }

  std::string path_;
  std::string column_;
  std::string unknown_;  // the policy of the column's spec
};

// The whole text of a column as a number. Seeds are stored as text, because an integer of SQLite
// has a sign.
inline std::uint64_t number_at(std::string_view text, std::string_view name, Doubts& doubts) {
  const auto value = parse_count(text, name, 0, std::numeric_limits<std::uint64_t>::max());
  doubts.require(value.has_value(), name);
  return value ? *value : 0;
}

// The number that sixteen hexadecimal digits stand for.
inline std::uint64_t from_hexadecimal(std::string_view text,
                                      std::string_view name,
                                      Doubts& doubts) {
  std::uint64_t value = 0;
  doubts.require(text.size() == 16, name);
  for (const char c : text) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    doubts.require(digit != std::string_view::npos, name);
    value = value << 4 | (digit & 15);
  }
  return value;
}

// The vector whose bytes a column holds.
template <typename T>
std::vector<T> blob_at(const Statement& row, int column, std::string_view name, Doubts& doubts) {
  auto values = from_blob<T>(row.blob(column));
  doubts.require(values.has_value(), name);
  return values ? std::move(*values) : std::vector<T>();
}

// Calls `take` with every row of the statement, until an error.
template <typename Take>
Result<void> each(Statement& rows, Take take) {
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return {};
    take(rows);
  }
}

// Reads which queries and kv-heads of the trace with this id are recorded. Files before version 8
// do not say, because they are all.
Result<void> select_sample(Database& database, std::int64_t trace, TraceInfo& info);

// What the other tables hold of the cell with this id: its summary, heads, units, series, bounds,
// residency and intervals. Files before version 6 have no summaries.
Result<void> select_parts(Database& database,
                          std::int64_t id,
                          bool has_summaries,
                          const TraceInfo& trace,
                          CellResult& cell);

}  // namespace kv::reports

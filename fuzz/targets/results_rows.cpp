#include <map>
#include <string>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/results_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/reports/store/sqlite.h"

namespace kv::fuzz {
namespace {

using reports::Database;
using reports::Statement;

using Columns = std::map<std::string, std::vector<std::string>, std::less<>>;  // by table

Columns columns_of(Database& database) {
  Columns columns;
  Statement rows(database,
                 "SELECT m.name, i.name FROM sqlite_master AS m, pragma_table_info(m.name) AS i "
                 "WHERE m.type = 'table'");
  while (rows.next().value()) columns[rows.text(0)].push_back(rows.text(1));
  return columns;
}

// Sets the column in one row, or in all. A change that a constraint forbids does nothing.
void set(Database& database, const std::string& update, std::string_view value) {
  Statement statement(database, update.c_str());
  const auto whole = value.starts_with('-') ? Result<std::uint64_t>(Error{})
                                            : parse_count(value, "a number", 0, ~0ULL >> 1U);
  const auto real = parse_real(value, "a number", -1e308, 1e308);
  if (whole) {
    static_cast<void>(statement.run(static_cast<std::int64_t>(*whole)));
  } else if (real && value.find_first_of(".e") == std::string_view::npos) {
    static_cast<void>(statement.run(static_cast<std::int64_t>(std::max(*real, -9e18))));
  } else if (real) {
    static_cast<void>(statement.run(*real));
  } else if (value.starts_with('x')) {
    static_cast<void>(statement.run(std::as_bytes(std::span(value.substr(1)))));
  } else {
    static_cast<void>(statement.run(value));
  }
}

// A line of a change: TABLE COLUMN ROW VALUE, or TABLE delete ROW. A row is an ordinal, or * for
// all rows.
void change(Database& database, const Columns& columns, std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 3) return;
  const auto table = columns.find(words[0]);
  if (table == columns.end()) return;
  const std::string key = words[0] == "runs" ? "id" : "ordinal";
  const auto row = parse_count(words[2], "a row", 0, 1000);
  const std::string where = row ? " WHERE " + key + " = " + std::to_string(*row) : "";
  if (words[1] == "delete") {
    static_cast<void>(database.execute(("DELETE FROM " + table->first + where).c_str()));
    return;
  }
  for (const std::string& column : table->second) {
    if (column != words[1]) continue;
    const std::size_t before = words[0].size() + words[1].size() + words[2].size() + 3;
    const std::string_view value = line.substr(std::min(before, line.size()));
    set(database, "UPDATE OR IGNORE " + table->first + " SET " + column + " = ?" + where, value);
  }
}

}  // namespace

bool results_rows(Input input) {
  const std::string path = right_results("rows");
  {
    Database database = Database::open(path).value();
    KV_CHECK(database.execute("PRAGMA synchronous = OFF").has_value());
    KV_CHECK(database.execute("PRAGMA foreign_keys = OFF").has_value());
    const Columns columns = columns_of(database);
    KV_CHECK(database.execute("BEGIN").has_value());
    for (const std::string_view line : split(text_of(input), '\n')) {
      change(database, columns, line);
    }
    KV_CHECK(database.execute("COMMIT").has_value());
  }
  return try_results(path);
}

}  // namespace kv::fuzz

#include "kvcheck/tests/cli/table_dump.h"

#include <stdexcept>
#include <vector>

#include "kvcheck/reports/store/results_file.h"

namespace kv::test {
namespace {

std::vector<std::string> texts(reports::Database& database, const std::string& sql) {
  reports::Statement rows(database, sql.c_str());
  std::vector<std::string> found;
  while (true) {
    const auto row = rows.next();
    if (!row) throw std::runtime_error(row.error().message);
    if (!*row) return found;
    found.push_back(rows.text(0));
  }
}

}  // namespace

std::string table_dump(const std::string& path) {
  auto database = reports::open_to_read(path);
  if (!database) throw std::runtime_error(database.error().message);
  std::string dump;
  for (const std::string& table :
       texts(*database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")) {
    std::string columns;
    for (const std::string& column :
         texts(*database, "SELECT name FROM pragma_table_info('" + table + "')")) {
      columns += (columns.empty() ? "quote(" : " || ' ' || quote(") + column + ")";
    }
    dump += table + "\n";
    for (const std::string& row : texts(*database, "SELECT " + columns + " FROM " + table)) {
      dump += row + "\n";
    }
  }
  return dump;
}

}  // namespace kv::test

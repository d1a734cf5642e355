// reports/SCHEMA.md says what the files hold, no more and no less.
#include <algorithm>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::read_text;
using testing::taken;

// "name TYPE", in order.
using Columns = std::vector<std::string>;

// The text between `begin` and the next line that begins with '#'.
std::string section(const std::string& begin) {
  const std::string page = read_text(KVCHECK_SOURCE_DIR "/reports/SCHEMA.md");
  const std::size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos) << begin;
  const std::size_t from = at + begin.size();
  return page.substr(from, page.find("\n#", from) - from);
}

// The cells of each line of the section's first table, below its head.
std::vector<std::vector<std::string>> table_in(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("| ")) {
      if (!rows.empty()) break;
      continue;
    }
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line.substr(1, line.size() - 2), '|')) {
      const std::size_t first = cell.find_first_not_of(' ');
      cells.emplace_back(cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
    rows.push_back(cells);
  }
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

// "`a`, `b`" as a, b.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  const auto parts = split(cell, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) names.emplace_back(parts[i]);
  return names;
}

Columns documented_columns(const std::string& table) {
  Columns columns;
  for (const auto& row : table_in(section("\n## " + table + "\n"))) {
    const std::vector<std::string> names = names_in(row[0]);
    const auto types = split(row[1], ',');
    EXPECT_TRUE(types.size() == 1 || types.size() == names.size()) << row[0];
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view type = types.size() == 1 ? types[0] : types[i];
      columns.push_back(names[i] + " " + std::string(type.substr(type.find_first_not_of(' '))));
    }
  }
  return columns;
}

std::vector<std::string> documented_names(const std::string& begin) {
  std::vector<std::string> names;
  for (const auto& row : table_in(section(begin))) {
    for (const std::string& name : names_in(row[0])) names.push_back(name);
  }
  return names;
}

std::vector<std::string> header_of(const std::string& csv) {
  std::vector<std::string> names;
  const std::string_view line = std::string_view(csv).substr(0, csv.find('\n'));
  for (const std::string_view name : split(line, ',')) {
    names.emplace_back(name);
  }
  return names;
}

// Every table of the database with its columns.
std::map<std::string, Columns> real_tables() {
  Database database = taken(Database::in_memory());
  EXPECT_TRUE(create_schema(database));
  Statement select(database,
                   "SELECT m.name, c.name || ' ' || c.type FROM sqlite_master AS m,"
                   " pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY m.name, c.cid");
  std::map<std::string, Columns> tables;
  while (*select.next()) tables[select.text(0)].push_back(select.text(1));
  return tables;
}

TEST(SchemaPage, HasTheColumnsOfEveryTableInOrder) {
  const auto tables = real_tables();
  EXPECT_EQ(tables.size(), 36U);
  for (const auto& [table, columns] : tables) {
    EXPECT_EQ(documented_columns(table), columns) << table;
  }
}

TEST(SchemaPage, HasTheColumnsOfTheExports) {
  const ReplayResult result = testing::fake_replay(testing::small_fake());
  EXPECT_EQ(documented_names("A line of `summary.csv` is "),
            header_of(to_csv(summary_table(result))));
  std::vector<std::string> fields = documented_names("An object of type `cell`:\n");
  fields.emplace_back("type");
  EXPECT_THAT(header_of(cells_csv(result)), ::testing::UnorderedElementsAreArray(fields));
  EXPECT_EQ(documented_names("A line of an evaluation's `cells.csv` is "),
            header_of(closed_loop_csv({})));
}

}  // namespace
}  // namespace kv::reports

#include "kvcheck/reports/store/schema.h"

#include <array>
#include <string>
#include <vector>

#include "kvcheck/reports/store/schema_tables.h"

namespace kv::reports {
namespace {

// What each version after the oldest adds, in order.
constexpr std::array additions = {&tables_of_5,  &tables_of_6,  &tables_of_7,
                                  &tables_of_8,  &tables_of_9,  &tables_of_10,
                                  &tables_of_11, &tables_of_12, &tables_of_13};

static_assert(additions.size() == results_schema_version - oldest_schema_version);

// Adds what the versions after `version` added, up to `last`.
Result<void> add_tables(Database& database, std::int64_t version, std::int64_t last) {
  for (std::int64_t next = version + 1; next <= last; ++next) {
    const char* const sql = *additions[static_cast<std::size_t>(next - oldest_schema_version - 1)];
    if (auto done = database.execute(sql); !done) return done;
  }
  return {};
}

Result<std::int64_t> pragma(Database& database, const char* sql) {
  Statement statement(database, sql);
  const auto row = statement.next();
  if (!row) return row.error();
  return *row ? statement.integer(0) : 0;
}

// Everything that the database declares, as the statements that declared it.
Result<std::vector<std::string>> declarations(Database& database) {
  std::vector<std::string> out;
  Statement statement(
      database,
      "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master ORDER BY 1");
  while (true) {
    const auto row = statement.next();
    if (!row) return row.error();
    if (!*row) return out;
    out.push_back(statement.text(0));
  }
}

// SQLite stores each declaration in its own form, so what is expected is read from a database in
// memory that was made from the same text.
Result<std::vector<std::string>> expected_declarations(std::int64_t version) {
  auto model = Database::in_memory();
  if (!model) return model.error();
  if (const auto made = model->execute(tables_of_4); !made) return made.error();
  const auto added = add_tables(*model, oldest_schema_version, version);
  if (!added) return added.error();
  return declarations(*model);
}

}  // namespace

Result<void> create_schema(Database& database) {
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun();
  // In the same transaction as the tables, so that a file is never marked without having them.
  const std::string marks = "PRAGMA application_id=" + std::to_string(results_application_id) +
                            "; PRAGMA user_version=" + std::to_string(results_schema_version) + ";";
  for (const char* sql : {marks.c_str(), tables_of_4}) {
    if (const auto done = database.execute(sql); !done) return done.error();
  }
  const auto added = add_tables(database, oldest_schema_version, results_schema_version);
  if (!added) return added.error();
  return transaction.commit();
}

Result<void> check_schema(Database& database) {
  const std::string file = "'" + database.path() + "'";
  const auto application = pragma(database, "PRAGMA application_id");
  if (!application) return application.error();
  if (*application != results_application_id) {
    return malformed(file + " is not a kvcheck results file");
  }
  const auto version = pragma(database, "PRAGMA user_version");
  if (!version) return version.error();
  if (*version < oldest_schema_version || *version > results_schema_version) {
    return Error{Error::Kind::unsupported, file + " has schema version " +
                                               std::to_string(*version) + "; this kvcheck reads " +
                                               std::to_string(oldest_schema_version) + " to " +
                                               std::to_string(results_schema_version)};
  }
  const auto found = declarations(database);
  if (!found) return found.error();
  const auto expected = expected_declarations(*version);
  if (!expected) return expected.error();
  if (*found != *expected) {
    return malformed(file + " does not have the tables of schema version " +
                     std::to_string(*version));
  }
  return {};
}

Result<void> upgrade_schema(Database& database) {
  const auto version = pragma(database, "PRAGMA user_version");
  if (!version) return version.error();
  if (*version == results_schema_version) return {};
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun();
  const std::string mark = "PRAGMA user_version=" + std::to_string(results_schema_version) + ";";
  if (const auto done = database.execute(mark.c_str()); !done) return done.error();
  const auto added = add_tables(database, *version, results_schema_version);
  if (!added) return added.error();
  return transaction.commit();
}

Result<bool> has_table(Database& database, std::string_view name) {
  Statement statement(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  statement.bind_all(name);
  return statement.next();
}

}  // namespace kv::reports

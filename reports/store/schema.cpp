#include "kvcheck/reports/store/schema.h"

#include <string>
#include <vector>

namespace kv::reports {
namespace {

constexpr const char* tables = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  version TEXT NOT NULL,
  command TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE traces (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  source TEXT NOT NULL,
  licence TEXT NOT NULL,
  loop TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  query_heads INTEGER NOT NULL,
  kv_heads INTEGER NOT NULL,
  head_dim INTEGER NOT NULL,
  layers TEXT NOT NULL,
  trained_context INTEGER NOT NULL,
  rope_layout TEXT NOT NULL,
  rope_dims INTEGER NOT NULL,
  rope_theta REAL,
  number TEXT NOT NULL,
  checksum TEXT NOT NULL,
  top_k INTEGER NOT NULL,
  series_width INTEGER NOT NULL,
  map_layer INTEGER NOT NULL,
  map_head INTEGER NOT NULL,
  map_side INTEGER NOT NULL,
  map_block INTEGER NOT NULL,
  map_mass BLOB NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE dense (
  trace INTEGER NOT NULL REFERENCES traces(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  first_mass REAL,
  sinks_mass REAL,
  recent_mass REAL,
  entropy REAL,
  PRIMARY KEY (trace, ordinal)
) WITHOUT ROWID;
CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  trace INTEGER NOT NULL REFERENCES traces(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  bytes_per_row INTEGER NOT NULL,
  kept BLOB NOT NULL,
  lifetimes BLOB NOT NULL,
  UNIQUE (trace, ordinal)
);
CREATE TABLE heads (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE units (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  stored_mean REAL,
  stored_peak INTEGER NOT NULL,
  visible_mean REAL,
  visible_peak INTEGER NOT NULL,
  kept_at_end INTEGER NOT NULL,
  evictions INTEGER NOT NULL,
  trims INTEGER NOT NULL,
  moved INTEGER NOT NULL,
  lifetime_mean REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE series (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  stored REAL,
  kept REAL,
  visible REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE residency (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  evicted_at BLOB NOT NULL,
  PRIMARY KEY (cell, ordinal)
);
CREATE TABLE bounds (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  heads INTEGER NOT NULL,
  optimum REAL,
  per_step REAL,
  greedy REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  architecture TEXT NOT NULL,
  weight_bytes INTEGER NOT NULL,
  trained_context INTEGER NOT NULL,
  text TEXT NOT NULL,
  checksum TEXT NOT NULL,
  loop TEXT NOT NULL,
  storage TEXT NOT NULL,
  window INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  longest INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  series_width INTEGER NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE eval_cells (
  id INTEGER PRIMARY KEY,
  evaluation INTEGER NOT NULL REFERENCES evaluations(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  kv_bytes INTEGER NOT NULL,
  retained_mass REAL,
  UNIQUE (evaluation, ordinal)
);
CREATE TABLE eval_series (
  cell INTEGER NOT NULL REFERENCES eval_cells(id),
  ordinal INTEGER NOT NULL,
  first_target INTEGER NOT NULL,
  targets INTEGER NOT NULL,
  nats REAL NOT NULL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE eval_recall (
  cell INTEGER NOT NULL REFERENCES eval_cells(id),
  ordinal INTEGER NOT NULL,
  first_distance INTEGER NOT NULL,
  last_distance INTEGER NOT NULL,
  asked INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE timings (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  weights TEXT NOT NULL,
  weight_bytes INTEGER NOT NULL,
  storage TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE timed_cells (
  timing INTEGER NOT NULL REFERENCES timings(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  length INTEGER NOT NULL,
  first_token_s REAL NOT NULL,
  token_s REAL NOT NULL,
  attention_s REAL NOT NULL,
  kv_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,
  PRIMARY KEY (timing, ordinal)
) WITHOUT ROWID;
)sql";

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
Result<std::vector<std::string>> expected_declarations() {
  auto model = Database::in_memory();
  if (!model) return model.error();
  if (const auto made = model->execute(tables); !made) return made.error();
  return declarations(*model);
}

}  // namespace

Result<void> create_schema(Database& database) {
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun();
  // In the same transaction as the tables, so that a file is never marked without having them.
  const std::string marks = "PRAGMA application_id=" + std::to_string(results_application_id) +
                            "; PRAGMA user_version=" + std::to_string(results_schema_version) + ";";
  for (const char* sql : {marks.c_str(), tables}) {
    if (const auto done = database.execute(sql); !done) return done.error();
  }
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
  if (*version != results_schema_version) {
    return Error{Error::Kind::unsupported, file + " has schema version " +
                                               std::to_string(*version) + "; this kvcheck reads " +
                                               std::to_string(results_schema_version)};
  }
  const auto found = declarations(database);
  if (!found) return found.error();
  const auto expected = expected_declarations();
  if (!expected) return expected.error();
  if (*found != *expected) {
    return malformed(file + " does not have the tables of schema version " +
                     std::to_string(results_schema_version));
  }
  return {};
}

}  // namespace kv::reports

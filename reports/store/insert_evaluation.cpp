#include <string>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema_tables.h"

namespace kv::reports {
namespace {

Result<void> insert_about(Database& database,
                          const RunPlace& place,
                          const ClosedLoopResult& result) {
  Statement insert(database,
                   "INSERT INTO evaluations (id, run, ordinal, model, architecture, weight_bytes,"
                   " trained_context, text, checksum, loop, storage, window, streams, tokens,"
                   " longest, segment, series_width)"
                   " VALUES (nullif(?, 0),?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const std::string checksum = hexadecimal(result.checksum);
  const auto text = [](const std::string& words) { return std::string_view(words); };
  return insert.run(place.id, place.run, place.ordinal, text(result.model),
                    text(result.architecture), result.weight_bytes, result.context,
                    text(result.text), text(checksum), std::string_view("closed"),
                    text(result.storage), result.window, result.streams, result.tokens,
                    result.longest, result.segment, result.series_width);
}

Result<void> insert_cell(Database& database,
                         std::int64_t evaluation,
                         const CellPlace& place,
                         const ClosedLoopCell& result) {
  Statement insert(database,
                   "INSERT INTO eval_cells (id, evaluation, ordinal, spec, policy, label, budget,"
                   " seed, kv_bytes, retained_mass) VALUES (nullif(?, 0),?,?,?,?,?,?,?,?,?)");
  const Spec& spec = result.cell.spec;
  const std::string canonical = spec.canonical();
  const std::string label = spec.label();
  // As text, because an integer of SQLite has a sign and a seed uses all 64 bits.
  const std::string seed = std::to_string(result.cell.seed);
  return insert.run(place.id, evaluation, place.ordinal, std::string_view(canonical),
                    spec.policy->name, std::string_view(label), spec.budget, std::string_view(seed),
                    result.kv_bytes, result.retained_mass);
}

Result<void> insert_after(Database& database, std::int64_t cell, const ClosedLoopCell& result) {
  if (result.targets_after == 0) return {};
  Statement insert(database, "INSERT INTO eval_after VALUES (?,?,?)");
  return insert.run(cell, result.targets_after, result.nats_after);
}

Result<void> insert_open_loop(Database& database, std::int64_t cell, const ClosedLoopCell& result) {
  if (result.queries_after == 0) return {};
  Statement insert(database, "INSERT INTO eval_open_loop VALUES (?,?)");
  return insert.run(cell, result.queries_after);
}

Result<void> insert_series(Database& database, std::int64_t cell, const ClosedLoopCell& result) {
  Statement insert(database, "INSERT INTO eval_series VALUES (?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const LossPoint& point : result.series) {
    const auto done = insert.run(cell, ordinal++, point.first, point.targets, point.nats);
    if (!done) return done.error();
  }
  return {};
}

Result<void> insert_recall(Database& database, std::int64_t cell, const ClosedLoopCell& result) {
  Statement insert(database, "INSERT INTO eval_recall VALUES (?,?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const RecallBin& bin : result.recall) {
    const auto done = insert.run(cell, ordinal++, bin.first, bin.last, bin.asked, bin.right);
    if (!done) return done.error();
  }
  return {};
}

}  // namespace

// What version 11 adds.
const char* const tables_of_11 = R"sql(
CREATE TABLE eval_after (
  cell INTEGER PRIMARY KEY REFERENCES eval_cells(id),
  targets INTEGER NOT NULL,
  nats REAL NOT NULL
);
)sql";

// What version 12 adds.
const char* const tables_of_12 = R"sql(
CREATE TABLE eval_inputs (
  evaluation INTEGER PRIMARY KEY REFERENCES evaluations(id),
  weights TEXT NOT NULL,
  cell TEXT NOT NULL
);
CREATE TABLE task_inputs (
  task INTEGER PRIMARY KEY REFERENCES tasks(id),
  weights TEXT NOT NULL,
  cell TEXT NOT NULL
);
CREATE TABLE task_item_texts (
  task INTEGER NOT NULL REFERENCES tasks(id),
  ordinal INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (task, ordinal)
) WITHOUT ROWID;
)sql";

// What version 13 adds.
const char* const tables_of_13 = R"sql(
CREATE TABLE eval_open_loop (
  cell INTEGER PRIMARY KEY REFERENCES eval_cells(id),
  queries INTEGER NOT NULL
);
)sql";

Result<std::int64_t> insert_evaluation_alone(Database& database,
                                             const RunPlace& place,
                                             const ClosedLoopResult& result) {
  if (const auto done = insert_about(database, place, result); !done) return done.error();
  const std::int64_t evaluation = database.last_id();
  if (result.marks.known()) {
    const auto done = insert_marks(database, "eval_marks", evaluation, result.marks);
    if (!done) return done.error();
  }
  const auto made_of = insert_inputs(database, "eval_inputs", evaluation, result.inputs);
  if (!made_of) return made_of.error();
  return evaluation;
}

Result<void> insert_evaluation_cells(Database& database,
                                     std::int64_t evaluation,
                                     std::span<const ClosedLoopCell> cells,
                                     std::span<const CellPlace> places) {
  KV_CHECK(places.size() == cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto done = insert_cell(database, evaluation, places[i], cells[i]);
    if (!done) return done.error();
    const std::int64_t id = database.last_id();
    if (const auto rows = insert_after(database, id, cells[i]); !rows) return rows.error();
    if (const auto rows = insert_open_loop(database, id, cells[i]); !rows) return rows.error();
    if (const auto rows = insert_series(database, id, cells[i]); !rows) return rows.error();
    if (const auto rows = insert_recall(database, id, cells[i]); !rows) return rows.error();
  }
  return {};
}

Result<void> insert_evaluation(Database& database,
                               const RunPlace& place,
                               const ClosedLoopResult& result) {
  const auto evaluation = insert_evaluation_alone(database, place, result);
  if (!evaluation) return evaluation.error();
  return insert_evaluation_cells(database, *evaluation, result.cells,
                                 places_in_order(result.cells.size()));
}

}  // namespace kv::reports

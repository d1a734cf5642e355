#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/schema_tables.h"
#include "kvcheck/reports/store/select_detail.h"

namespace kv::reports {

// What version 7 adds.
const char* const tables_of_7 = R"sql(
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  architecture TEXT NOT NULL,
  weight_bytes INTEGER NOT NULL,
  trained_context INTEGER NOT NULL,
  file TEXT NOT NULL,
  checksum TEXT NOT NULL,
  storage TEXT NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE task_items (
  task INTEGER NOT NULL REFERENCES tasks(id),
  ordinal INTEGER NOT NULL,
  item TEXT NOT NULL,
  item_group TEXT NOT NULL,
  context INTEGER NOT NULL,
  question INTEGER NOT NULL,
  answer INTEGER NOT NULL,
  choices INTEGER NOT NULL,
  PRIMARY KEY (task, ordinal)
) WITHOUT ROWID;
CREATE TABLE task_cells (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  kv_bytes INTEGER NOT NULL,
  UNIQUE (task, ordinal)
);
CREATE TABLE task_answers (
  cell INTEGER NOT NULL REFERENCES task_cells(id),
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  exact INTEGER NOT NULL,
  contains INTEGER NOT NULL,
  f1 REAL NOT NULL,
  loss REAL NOT NULL,
  rank INTEGER NOT NULL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
)sql";

namespace {

std::string_view text(const std::string& words) {
  return words;
}

Result<void> insert_items(Database& database, std::int64_t task, const TaskResult& result) {
  Statement insert(database, "INSERT INTO task_items VALUES (?,?,?,?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const AskedItem& item : result.items) {
    const auto done = insert.run(task, ordinal++, text(item.id), text(item.group), item.context,
                                 item.question, item.answer, item.choices);
    if (!done) return done.error();
  }
  Statement insert_text(database, "INSERT INTO task_item_texts VALUES (?,?,?)");
  for (ordinal = 0; const AskedItem& item : result.items) {
    const std::string checksum = hexadecimal(item.checksum);
    const auto done = insert_text.run(task, ordinal++, text(checksum));
    if (!done) return done.error();
  }
  return {};
}

Result<void> insert_answers(Database& database, std::int64_t cell, const TaskCell& result) {
  Statement insert(database, "INSERT INTO task_answers VALUES (?,?,?,?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const TaskAnswer& answer : result.answers) {
    const auto done =
        insert.run(cell, ordinal++, text(answer.text), std::uint32_t{answer.exact ? 1U : 0U},
                   std::uint32_t{answer.contains ? 1U : 0U}, answer.f1, answer.loss, answer.rank);
    if (!done) return done.error();
  }
  return {};
}

Result<void> insert_cell(Database& database,
                         std::int64_t task,
                         const CellPlace& place,
                         const TaskCell& result) {
  Statement insert(database,
                   "INSERT INTO task_cells (id, task, ordinal, spec, policy, label, budget, seed,"
                   " kv_bytes) VALUES (nullif(?, 0),?,?,?,?,?,?,?,?)");
  const Spec& spec = result.cell.spec;
  const std::string canonical = spec.canonical();
  const std::string label = spec.label();
  const std::string seed = std::to_string(result.cell.seed);
  return insert.run(place.id, task, place.ordinal, text(canonical), spec.policy->name, text(label),
                    spec.budget, text(seed), result.kv_bytes);
}

Result<TaskResult> select_about(Database& database, std::int64_t task) {
  Statement row(database,
                "SELECT model, architecture, weight_bytes, trained_context, file, checksum, storage"
                " FROM tasks WHERE id = ?");
  row.bind_all(task);
  if (const auto there = row.next(); !there) return there.error();
  Doubts doubts(database.path());
  TaskResult result;
  result.model = row.text(0);
  result.architecture = row.text(1);
  result.weight_bytes = row.count(2);
  result.context = row.count(3);
  result.file = row.text(4);
  result.checksum = from_hexadecimal(row.text(5), "tasks.checksum", doubts);
  result.storage = row.text(6);
  if (doubts.any()) return doubts.error();
  if (const Result<void> right = row.right_types(); !right) return right.error();
  const auto inputs = select_inputs(database, "task_inputs", "task", task);
  if (!inputs) return inputs.error();
  result.inputs = *inputs;
  return result;
}

Result<void> select_items(Database& database, std::int64_t task, TaskResult& result) {
  const auto there = has_table(database, "task_item_texts");
  if (!there) return there.error();
  const std::string checksum = *there ? "ifnull(checksum, '')" : "''";
  const std::string join = *there ? " LEFT JOIN task_item_texts USING (task, ordinal)" : "";
  Statement rows(database,
                 ("SELECT item, item_group, context, question, answer, choices, " + checksum +
                  " FROM task_items" + join + " WHERE task = ? ORDER BY ordinal")
                     .c_str());
  rows.bind_all(task);
  Doubts doubts(database.path());
  const auto read = each(rows, [&](const Statement& row) {
    const std::string sum = row.text(6);
    const auto known = [&] { return from_hexadecimal(sum, "task_item_texts.checksum", doubts); };
    result.items.push_back({.id = row.text(0),
                            .group = row.text(1),
                            .context = row.count(2),
                            .question = row.count(3),
                            .answer = row.count(4),
                            .choices = row.count(5),
                            .checksum = sum.empty() ? 0 : known()});
  });
  if (!read) return read.error();
  if (doubts.any()) return doubts.error();
  return {};
}

Result<void> select_answers(Database& database, std::int64_t id, TaskCell& cell) {
  Statement rows(database,
                 "SELECT text, exact, contains, f1, loss, rank FROM task_answers WHERE cell = ?"
                 " ORDER BY ordinal");
  rows.bind_all(id);
  Doubts doubts(database.path());
  const auto read = each(rows, [&](const Statement& row) {
    doubts.require(row.count(1) <= 1, "task_answers.exact");
    doubts.require(row.count(2) <= 1, "task_answers.contains");
    cell.answers.push_back({.text = row.text(0),
                            .exact = row.count(1) == 1,
                            .contains = row.count(2) == 1,
                            .f1 = row.real(3),
                            .loss = row.real(4),
                            .rank = row.count(5)});
    // Written so that NaN is refused, too.
    doubts.require(cell.answers.back().f1 >= 0 && cell.answers.back().f1 <= 1, "task_answers.f1");
    doubts.require(cell.answers.back().loss >= -1e-3, "task_answers.loss");
  });
  if (!read) return read.error();
  if (doubts.any()) return doubts.error();
  return {};
}

// Every item has one answer in every cell, and a rank among its choices if it has some.
bool fit(const TaskResult& result, const TaskCell& cell) {
  if (cell.answers.size() != result.items.size()) return false;
  for (std::size_t i = 0; i < result.items.size(); ++i) {
    const std::size_t rank = cell.answers[i].rank;
    const std::size_t choices = result.items[i].choices;
    if ((rank == 0) != (choices == 0) || rank > choices) return false;
  }
  return true;
}

Result<TaskCell> task_cell_at(Database& database, const Statement& row, const TaskResult& of) {
  Doubts doubts(database.path());
  const auto spec = parse_spec(row.text(1));
  doubts.require_spec(spec, row.text(1), "task_cells.spec");
  TaskCell cell;
  cell.cell.seed = number_at(row.text(2), "task_cells.seed", doubts);
  cell.kv_bytes = row.count(3);
  if (doubts.any()) return doubts.error();
  cell.cell.spec = *spec;
  const auto read = select_answers(database, row.integer(0), cell);
  if (!read) return read.error();
  doubts.require(fit(of, cell), "task_answers.rank");
  if (doubts.any()) return doubts.error();
  return cell;
}

}  // namespace

Result<std::int64_t> insert_task_alone(Database& database,
                                       const RunPlace& place,
                                       const TaskResult& result) {
  Statement about(database,
                  "INSERT INTO tasks (id, run, ordinal, model, architecture, weight_bytes,"
                  " trained_context, file, checksum, storage)"
                  " VALUES (nullif(?, 0),?,?,?,?,?,?,?,?,?)");
  const std::string checksum = hexadecimal(result.checksum);
  const auto done = about.run(place.id, place.run, place.ordinal, text(result.model),
                              text(result.architecture), result.weight_bytes, result.context,
                              text(result.file), text(checksum), text(result.storage));
  if (!done) return done.error();
  const std::int64_t task = database.last_id();
  const auto made_of = insert_inputs(database, "task_inputs", task, result.inputs);
  if (!made_of) return made_of.error();
  if (const auto items = insert_items(database, task, result); !items) return items.error();
  return task;
}

Result<void> insert_task_cells(Database& database,
                               std::int64_t task,
                               std::span<const TaskCell> cells,
                               std::span<const CellPlace> places) {
  KV_CHECK(places.size() == cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto added = insert_cell(database, task, places[i], cells[i]);
    if (!added) return added.error();
    const auto answers = insert_answers(database, database.last_id(), cells[i]);
    if (!answers) return answers.error();
  }
  return {};
}

Result<void> insert_task(Database& database, const RunPlace& place, const TaskResult& result) {
  const auto task = insert_task_alone(database, place, result);
  if (!task) return task.error();
  return insert_task_cells(database, *task, result.cells, places_in_order(result.cells.size()));
}

Result<TaskResult> select_task_alone(Database& database, std::int64_t task) {
  auto result = select_about(database, task);
  if (!result) return result;
  if (const auto items = select_items(database, task, *result); !items) return items.error();
  return result;
}

Result<TaskCell> select_task_cell(Database& database, std::int64_t id, const TaskResult& of) {
  Statement row(database, "SELECT id, spec, seed, kv_bytes FROM task_cells WHERE id = ?");
  row.bind_all(id);
  if (const auto there = row.next(); !there) return there.error();
  return task_cell_at(database, row, of);
}

Result<TaskResult> select_task(Database& database, std::int64_t task) {
  auto result = select_task_alone(database, task);
  if (!result) return result;
  Statement rows(database,
                 "SELECT id, spec, seed, kv_bytes FROM task_cells WHERE task = ? ORDER BY ordinal");
  rows.bind_all(task);
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return result;
    auto cell = task_cell_at(database, rows, *result);
    if (!cell) return cell.error();
    result->cells.push_back(*std::move(cell));
  }
}

}  // namespace kv::reports

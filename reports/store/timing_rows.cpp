#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/schema_tables.h"
#include "kvcheck/reports/store/select_detail.h"

namespace kv::reports {

// What version 9 adds.
const char* const tables_of_9 = R"sql(
CREATE TABLE timing_threads (
  timing INTEGER PRIMARY KEY REFERENCES timings(id),
  threads INTEGER NOT NULL
);
CREATE TABLE timed_repetitions (
  timing INTEGER NOT NULL REFERENCES timings(id),
  ordinal INTEGER NOT NULL,
  repetition INTEGER NOT NULL,
  PRIMARY KEY (timing, ordinal)
) WITHOUT ROWID;
)sql";

// What version 10 adds.
const char* const tables_of_10 = R"sql(
CREATE TABLE timed_details (
  timing INTEGER NOT NULL REFERENCES timings(id),
  ordinal INTEGER NOT NULL,
  mean_token_s REAL NOT NULL,
  kernels TEXT NOT NULL,
  processor TEXT NOT NULL,
  PRIMARY KEY (timing, ordinal)
) WITHOUT ROWID;
)sql";

namespace {

Result<TimedCell> select_timed(Database& database, const Statement& row) {
  Doubts doubts(database.path());
  const auto spec = parse_spec(row.text(0));
  doubts.require_spec(spec, row.text(0), "timed_cells.spec");
  TimedCell cell;
  cell.cell.seed = number_at(row.text(1), "timed_cells.seed", doubts);
  cell.length = row.count(2);
  cell.first_token_s = row.real(3);
  cell.token_s = row.real(4);
  cell.attention_s = row.real(5);
  cell.kv_bytes = row.count(6);
  cell.peak_bytes = row.count(7);
  cell.repetition = row.count(8);
  // NULL, read as NaN and as no text, in rows that were added before version 10.
  const double mean = row.real(9);
  if (!std::isnan(mean)) cell.mean_token_s = mean;
  cell.kernels = row.text(10);
  cell.processor = row.text(11);
  doubts.require(cell.length > 0, "timed_cells.length");
  doubts.require(cell.token_s > 0, "timed_cells.token_s");
  doubts.require(cell.repetition > 0, "timed_repetitions.repetition");
  doubts.require(std::isfinite(cell.mean_token_s) && cell.mean_token_s >= 0,
                 "timed_details.mean_token_s");
  if (doubts.any()) return doubts.error();
  cell.cell.spec = *spec;
  return cell;
}

// Files before version 9 do not say how many threads there were.
Result<std::size_t> select_threads(Database& database, std::int64_t timing) {
  const auto said = has_table(database, "timing_threads");
  if (!said) return said.error();
  if (!*said) return std::size_t{0};
  Statement select(database, "SELECT threads FROM timing_threads WHERE timing = ?");
  select.bind_all(timing);
  const auto there = select.next();
  if (!there) return there.error();
  const std::size_t threads = *there ? select.count(0) : 0;
  if (const Result<void> right = select.right_types(); !right) return right.error();
  return threads;
}

// The SQL of a column that a later version added in a table of its own.
Result<std::string> added_column(Database& database,
                                 const std::string& table,
                                 const std::string& column,
                                 const std::string& otherwise) {
  const auto there = has_table(database, table);
  if (!there) return there.error();
  if (!*there) return otherwise;
  return "(SELECT " + column + " FROM " + table +
         " AS of_cell WHERE of_cell.timing = timed_cells.timing"
         " AND of_cell.ordinal = timed_cells.ordinal)";
}

// The rows of the timing, or the one with this ordinal. Before version 9 everything was timed once.
Result<std::vector<TimedCell>> select_cells(Database& database,
                                            std::int64_t timing,
                                            std::optional<std::int64_t> ordinal) {
  std::string sql =
      "SELECT spec, seed, length, first_token_s, token_s, attention_s, kv_bytes, peak_bytes";
  for (const auto& [table, column, otherwise] :
       {std::array{"timed_repetitions", "repetition", "1"},
        std::array{"timed_details", "mean_token_s", "NULL"},
        std::array{"timed_details", "kernels", "NULL"},
        std::array{"timed_details", "processor", "NULL"}}) {
    const auto added = added_column(database, table, column, otherwise);
    if (!added) return added.error();
    sql += ", " + *added;
  }
  sql += std::string(" FROM timed_cells WHERE timing = ?") + (ordinal ? " AND ordinal = ?" : "") +
         " ORDER BY ordinal";
  Statement rows(database, sql.c_str());
  if (ordinal) {
    rows.bind_all(timing, *ordinal);
  } else {
    rows.bind_all(timing);
  }
  std::vector<TimedCell> cells;
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return cells;
    auto cell = select_timed(database, rows);
    if (!cell) return cell.error();
    cells.push_back(*std::move(cell));
  }
}

}  // namespace

Result<void> insert_timing(Database& database, const RunPlace& place, const TimingResult& result) {
  const auto timing = insert_timing_alone(database, place, result);
  if (!timing) return timing.error();
  return insert_timed_cells(database, *timing, result.cells, places_in_order(result.cells.size()));
}

Result<std::int64_t> insert_timing_alone(Database& database,
                                         const RunPlace& place,
                                         const TimingResult& result) {
  const auto text = [](const std::string& words) { return std::string_view(words); };
  Statement about(
      database,
      "INSERT INTO timings (id, run, ordinal, model, weights, weight_bytes, storage, tokens)"
      " VALUES (nullif(?, 0),?,?,?,?,?,?,?)");
  const auto done =
      about.run(place.id, place.run, place.ordinal, text(result.model), text(result.weights),
                result.weight_bytes, text(result.storage), result.tokens);
  if (!done) return done.error();
  const std::int64_t timing = database.last_id();
  Statement threads(database, "INSERT INTO timing_threads VALUES (?,?)");
  if (const auto added = threads.run(timing, result.threads); !added) return added.error();
  return timing;
}

Result<void> insert_timed_cells(Database& database,
                                std::int64_t timing,
                                std::span<const TimedCell> cells,
                                std::span<const CellPlace> places) {
  const auto text = [](const std::string& words) { return std::string_view(words); };
  Statement repeated(database, "INSERT INTO timed_repetitions VALUES (?,?,?)");
  Statement details(database, "INSERT INTO timed_details VALUES (?,?,?,?,?)");
  Statement insert(database, "INSERT INTO timed_cells VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const TimedCell& cell = cells[i];
    const Spec& spec = cell.cell.spec;
    const std::string canonical = spec.canonical();
    const std::string label = spec.label();
    const std::string seed = std::to_string(cell.cell.seed);
    const auto added =
        insert.run(timing, places[i].ordinal, text(canonical), spec.policy->name, text(label),
                   spec.budget, text(seed), cell.length, cell.first_token_s, cell.token_s,
                   cell.attention_s, cell.kv_bytes, cell.peak_bytes);
    if (!added) return added.error();
    const auto numbered = repeated.run(timing, places[i].ordinal, cell.repetition);
    if (!numbered) return numbered.error();
    const auto detailed = details.run(timing, places[i].ordinal, cell.mean_token_s,
                                      text(cell.kernels), text(cell.processor));
    if (!detailed) return detailed.error();
  }
  return {};
}

Result<TimingResult> select_timing(Database& database, std::int64_t timing) {
  auto result = select_timing_alone(database, timing);
  if (!result) return result;
  auto cells = select_cells(database, timing, {});
  if (!cells) return cells.error();
  result->cells = *std::move(cells);
  return result;
}

Result<TimingResult> select_timing_alone(Database& database, std::int64_t timing) {
  Statement about(database,
                  "SELECT model, weights, weight_bytes, storage, tokens FROM timings WHERE id = ?");
  about.bind_all(timing);
  if (const auto there = about.next(); !there) return there.error();
  TimingResult result{.model = about.text(0),
                      .weights = about.text(1),
                      .weight_bytes = about.count(2),
                      .storage = about.text(3),
                      .tokens = about.count(4)};
  if (const Result<void> right = about.right_types(); !right) return right.error();
  const auto threads = select_threads(database, timing);
  if (!threads) return threads.error();
  result.threads = *threads;
  return result;
}

Result<TimedCell> select_timed_cell(Database& database, std::int64_t timing, std::int64_t ordinal) {
  auto cells = select_cells(database, timing, ordinal);
  if (!cells) return cells.error();
  if (cells->size() == 1) return std::move(cells->front());
  return malformed("'" + database.path() + "' is damaged: timing " + std::to_string(timing) +
                   " has no row " + std::to_string(ordinal));
}

}  // namespace kv::reports

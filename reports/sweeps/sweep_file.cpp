#include "kvcheck/reports/sweeps/sweep_file.h"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/sweeps/earlier_cells.h"

namespace kv::reports {
namespace {

using PlaceKey = std::pair<std::size_t, std::size_t>;

PlaceKey key_of(const SweepPlace& place) {
  return {place.source, place.cell};
}

Result<std::int64_t> number_of(Database& database, const char* sql, std::int64_t run) {
  Statement select(database, sql);
  select.bind_all(run);
  const auto row = select.next();
  if (!row) return row.error();
  return *row ? select.integer(0) : 0;
}

// The largest ids of a source and of a cell of earlier runs; 0 if there are none.
Result<std::pair<std::int64_t, std::int64_t>> last_ids(Database& database,
                                                       SweepKind kind,
                                                       std::int64_t run) {
  const SweepTables tables = tables_of(kind);
  const std::string sources(tables.sources);
  const std::string cells(tables.cells);
  const std::string of_sources = "SELECT max(id) FROM " + sources + " WHERE run < ?";
  const auto source = number_of(database, of_sources.c_str(), run);
  if (!source) return source.error();
  const std::string of_cells = "SELECT max(" + std::string(tables.id) + ") FROM " + cells +
                               " JOIN " + sources + " ON " + sources + ".id = " + cells + "." +
                               std::string(tables.source) + " WHERE run < ?";
  const auto cell = number_of(database, of_cells.c_str(), run);
  if (!cell) return cell.error();
  return std::pair(*source, *cell);
}

Result<std::int64_t> begin_run(Database& database, const SweepIdentity& sweep) {
  Transaction transaction(database);
  if (!transaction.begun()) return transaction.begun().error();
  auto run = insert_run(database, sweep.command);
  if (!run) return run;
  Statement insert(database, "INSERT INTO sweeps VALUES (?,?,?,?,?,?)");
  const auto done = insert.run(*run, std::string_view(sweep.identity), std::string_view(sweep.plan),
                               sweep.sources, sweep.cells, sweep.total);
  if (!done) return done.error();
  if (const auto stored = transaction.commit(); !stored) return stored.error();
  return run;
}

// Cells that are not held yet.
struct Addition {
  std::size_t source = 0;
  SweepResult fresh{};
  std::vector<CellPlace> rows{};
  std::vector<std::size_t> places{};
};

}  // namespace

struct SweepFile::State {
  WritableResults file;
  SweepIdentity sweep;
  std::int64_t run = 0;
  bool begun = false;  // by open()
  bool complete = false;
  std::int64_t first_source = 0;  // the id of the first source of the plan
  std::int64_t first_cell = 0;    // of the first cell
  std::map<PlaceKey, std::int64_t> cells{};
  std::map<std::size_t, std::int64_t> rows{};  // the ids of rows of sources, by ordinal
  std::optional<EarlierCells> earlier{};

  // The ordinal of the row of a source.
  [[nodiscard]] std::size_t row_of(std::size_t source) const {
    return tables_of(sweep.kind).one_row ? 0 : source;
  }

  // The ordinal and the id of the row of a cell.
  [[nodiscard]] CellPlace cell_of(const SweepPlace& place) const {
    const auto index = static_cast<std::int64_t>(place.source * sweep.cells + place.cell);
    if (tables_of(sweep.kind).one_row) {
      return {.ordinal = index, .id = timed_cell_id(first_source, index)};
    }
    return {.ordinal = static_cast<std::int64_t>(place.cell), .id = first_cell + index};
  }

  [[nodiscard]] Addition addition_of(const FinishedCells& finished) const {
    KV_CHECK(finished.source < sweep.sources);
    KV_CHECK(finished.places.size() == cells_in(finished.result));
    KV_CHECK(finished.result.index() == static_cast<std::size_t>(sweep.kind));
    Addition addition{.source = finished.source, .fresh = source_alone(finished.result)};
    for (std::size_t i = 0; i < finished.places.size(); ++i) {
      const SweepPlace place{.source = finished.source, .cell = finished.places[i]};
      KV_CHECK(place.cell < sweep.cells);
      if (cells.contains(key_of(place))) continue;
      addition.rows.push_back(cell_of(place));
      addition.places.push_back(place.cell);
      copy_cell(finished.result, i, addition.fresh);
    }
    return addition;
  }

  // The source and the cell that another run holds under this key of earlier_cells().
  Result<std::optional<SweepResult>> earlier_with(const std::string& key);

  // Inserts the rows of the cells, and that of their source if `sources` does not have it.
  Result<void> insert(const Addition& addition, std::map<std::size_t, std::int64_t>& sources) {
    const std::size_t row = row_of(addition.source);
    const auto ordinal = static_cast<std::int64_t>(row);
    const std::int64_t id = first_source + ordinal;
    if (!sources.contains(row)) {
      const RunPlace place{.run = run, .ordinal = ordinal, .id = id};
      const auto inserted = insert_source(file.database, place, addition.fresh);
      if (!inserted) return inserted.error();
      sources[row] = id;
    }
    return insert_cells(file.database, id, addition.fresh, addition.rows);
  }
};

Result<std::optional<SweepResult>> SweepFile::State::earlier_with(const std::string& key) {
  if (!earlier) {
    auto all = earlier_cells(file.database, sweep.kind, run);
    if (!all) return all.error();
    earlier = *std::move(all);
  }
  const auto found = earlier->find(key);
  if (found == earlier->end()) return std::optional<SweepResult>();
  auto result = select_source(file.database, sweep.kind, found->second.source);
  if (!result) return result.error();
  const auto cell = select_cell_into(file.database, found->second.id, *result);
  if (!cell) return cell.error();
  return std::optional<SweepResult>(*std::move(result));
}

SweepFile::SweepFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

SweepFile::SweepFile(SweepFile&& other) noexcept = default;

SweepFile::~SweepFile() = default;

Result<SweepFile> SweepFile::open(const std::string& path, const SweepIdentity& sweep) {
  auto opened = open_to_write(path);
  if (!opened) return opened.error();
  Database& database = opened->database;
  auto found = run_to_continue(database, sweep);
  if (!found) return found.error();
  const bool begins = found->id == 0;
  if (begins) {
    const auto begun = begin_run(database, sweep);
    if (!begun) {
      opened->lock.abandon();
      return begun.error();
    }
    found->id = *begun;
    found->sweep = sweep;
  }
  const auto last = last_ids(database, sweep.kind, found->id);
  if (!last) return last.error();
  const auto held = held_cells(database, *found);
  if (!held) return held.error();
  auto state = std::make_unique<State>(State{.file = *std::move(opened),
                                             .sweep = sweep,
                                             .run = found->id,
                                             .begun = begins,
                                             .complete = found->complete,
                                             .first_source = last->first + 1,
                                             .first_cell = last->second + 1});
  const bool one_row = tables_of(sweep.kind).one_row;
  for (const HeldCell& cell : *held) {
    state->cells[key_of(cell.place)] = cell.id;
    state->rows[one_row ? 0 : cell.place.source] = cell.source;
  }
  return SweepFile(std::move(state));
}

bool SweepFile::complete() const {
  return state_->complete;
}

bool SweepFile::holds(const SweepPlace& place) const {
  return state_->cells.contains(key_of(place));
}

std::size_t SweepFile::held() const {
  return state_->cells.size();
}

Result<void> SweepFile::add(std::size_t source,
                            std::span<const std::size_t> places,
                            const SweepResult& result) {
  const FinishedCells one{
      .source = source, .places = {places.begin(), places.end()}, .result = result};
  return add_all(std::span(&one, 1));
}

Result<void> SweepFile::add_all(std::span<const FinishedCells> finished) {
  std::vector<Addition> additions;
  for (const FinishedCells& cells : finished) {
    Addition addition = state_->addition_of(cells);
    if (!addition.rows.empty()) additions.push_back(std::move(addition));
  }
  if (additions.empty()) return {};
  if (state_->complete) {
    return malformed(
        "the results file is damaged: its run is complete and lacks cells of the plan; "
        "expected a file as sweep leaves it");
  }
  Transaction transaction(state_->file.database);
  if (!transaction.begun()) return transaction.begun();
  auto sources = state_->rows;
  for (const Addition& addition : additions) {
    if (auto done = state_->insert(addition, sources); !done) return done;
  }
  if (auto done = transaction.commit(); !done) return done;
  state_->rows = std::move(sources);
  for (const Addition& addition : additions) {
    for (std::size_t i = 0; i < addition.rows.size(); ++i) {
      state_->cells[{addition.source, addition.places[i]}] = addition.rows[i].id;
    }
  }
  return {};
}

Result<SweepResult> SweepFile::at(const SweepPlace& place) {
  KV_CHECK(holds(place));
  Database& database = state_->file.database;
  auto result =
      select_source(database, state_->sweep.kind, state_->rows.at(state_->row_of(place.source)));
  if (!result) return result;
  const auto cell = select_cell_into(database, state_->cells.at(key_of(place)), *result);
  if (!cell) return cell.error();
  return result;
}

Result<std::optional<ReplayResult>> SweepFile::earlier(const TraceInfo& trace,
                                                       std::size_t top_k,
                                                       const Cell& cell) {
  auto found = state_->earlier_with(result_key(trace, top_k, cell));
  if (!found) return found.error();
  if (!*found) return std::optional<ReplayResult>();
  auto& result = std::get<ReplayResult>(**found);
  result.trace.name = trace.name;
  return std::optional<ReplayResult>(std::move(result));
}

Result<std::optional<SweepResult>> SweepFile::earlier(std::uint64_t inputs, const Cell& cell) {
  return state_->earlier_with(result_key(inputs, cell));
}

Result<bool> SweepFile::finish() {
  if (held() < state_->sweep.total) return false;
  if (state_->complete) return true;
  Statement update(state_->file.database, "UPDATE runs SET status = 'complete' WHERE id = ?");
  if (const auto done = update.run(state_->run); !done) return done.error();
  state_->complete = true;
  return true;
}

void SweepFile::discard() {
  if (!state_->begun) return;
  if (state_->file.lock.empty()) {
    state_->file.lock.abandon();
  } else {
    static_cast<void>(delete_run(state_->file.database, state_->run));
  }
}

}  // namespace kv::reports

// The results of a sweep's cells, of any kind, and their rows in a results file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// What the cells of a sweep run on, its *sources*: traces; texts, each at one size of windows; task
// files; or one length of prompts in one of several runs, of which each cell is timed.
enum class SweepKind { replay, eval, tasks, speed };

// The kind as a plan names it: "replay", "eval", "tasks", "speed".
std::string_view name_of(SweepKind kind);

// A source with some of its cells.
using SweepResult = std::variant<ReplayResult, ClosedLoopResult, TaskResult, TimingResult>;

// Where a results file keeps sources and cells of a kind: the names of two tables, the column of
// the second that refers to the first, and the SQL of a cell's id.
struct SweepTables {
  std::string_view sources;
  std::string_view cells;
  std::string_view source;
  std::string_view id;
  // All sources are one row, whose cells are numbered across them: timings of several lengths and
  // runs are one timing, as `kvcheck speed` stores them.
  bool one_row = false;
};

SweepTables tables_of(SweepKind kind);

// The id of a row of timed_cells, whose key is a pair.
std::int64_t timed_cell_id(std::int64_t timing, std::int64_t ordinal);

std::size_t cells_in(const SweepResult& result);

// The source without its cells.
SweepResult source_alone(const SweepResult& result);

// Appends the cell with this index to a result of the same kind.
void copy_cell(const SweepResult& from, std::size_t cell, SweepResult& to);

void drop_last_cell(SweepResult& result);

// The cell with this index, as "the cell 'h2o:...' with seed 1 on 'a.txt'".
std::string cell_words(const SweepResult& result, std::size_t cell);

// "the trace 'a.safetensors'", "the text 'a.txt'", "the task file 'a.jsonl'".
std::string source_words(const SweepResult& result);

// Inserts the source without its cells; returns the id of its row. Requires a transaction, as does
// the next.
Result<std::int64_t> insert_source(Database& database,
                                   const RunPlace& place,
                                   const SweepResult& result);

// Inserts the cells of the result, one for each place.
Result<void> insert_cells(Database& database,
                          std::int64_t source,
                          const SweepResult& result,
                          std::span<const CellPlace> places);

// The source whose row has this id, without cells.
Result<SweepResult> select_source(Database& database, SweepKind kind, std::int64_t id);

// Appends the cell whose row has this id to the result of its source.
Result<void> select_cell_into(Database& database, std::int64_t id, SweepResult& result);

// Everything that a file stores of the source besides its cells, as bytes.
std::vector<std::byte> bytes_of_source(const SweepResult& result);

// Spec, seed and everything that a file stores of the cell with this index, as bytes: two cells
// have the same bytes if and only if all their results are the same to the last bit.
std::vector<std::byte> bytes_of_cell(const SweepResult& result, std::size_t cell);

}  // namespace kv::reports

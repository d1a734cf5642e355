#include "kvcheck/reports/sweeps/earlier_cells.h"

#include <string_view>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"

namespace kv::reports {
namespace {

// What decides the results of a cell, besides the version.
std::string joined_key(std::string_view checksum,
                       const std::vector<std::uint64_t>& numbers,
                       std::string_view spec,
                       std::string_view seed) {
  std::string key(checksum);
  for (const std::uint64_t number : numbers) key += " " + std::to_string(number);
  return key.append(" ").append(spec).append(" ").append(seed);
}

constexpr const char* replayed =
    "SELECT checksum, kv_heads, ifnull(prompt, 0), ifnull(question, 0), top_k, spec, seed,"
    " traces.id, cells.id FROM runs JOIN traces ON traces.run = runs.id"
    " JOIN cells ON cells.trace = traces.id LEFT JOIN marks ON marks.trace = traces.id"
    " WHERE runs.version = ? AND runs.id <> ?";

constexpr const char* evaluated =
    "SELECT eval_inputs.cell, spec, seed, evaluations.id, eval_cells.id FROM runs"
    " JOIN evaluations ON evaluations.run = runs.id"
    " JOIN eval_inputs ON eval_inputs.evaluation = evaluations.id"
    " JOIN eval_cells ON eval_cells.evaluation = evaluations.id"
    " WHERE runs.version = ? AND runs.id <> ?";

constexpr const char* answered =
    "SELECT task_inputs.cell, spec, seed, tasks.id, task_cells.id FROM runs"
    " JOIN tasks ON tasks.run = runs.id JOIN task_inputs ON task_inputs.task = tasks.id"
    " JOIN task_cells ON task_cells.task = tasks.id"
    " WHERE runs.version = ? AND runs.id <> ?";

}  // namespace

std::string result_key(const TraceInfo& trace, std::size_t top_k, const Cell& cell) {
  return joined_key(hexadecimal(trace.checksum),
                    {trace.kv_heads, trace.marks.prompt, trace.marks.question, top_k},
                    cell.spec.canonical(), std::to_string(cell.seed));
}

std::string result_key(std::uint64_t inputs, const Cell& cell) {
  return joined_key(hexadecimal(inputs), {}, cell.spec.canonical(), std::to_string(cell.seed));
}

Result<EarlierCells> earlier_cells(Database& database, SweepKind kind, std::int64_t run) {
  EarlierCells cells;
  if (kind == SweepKind::speed) return cells;
  const bool replays = kind == SweepKind::replay;
  Statement rows(database, replays ? replayed : kind == SweepKind::eval ? evaluated : answered);
  rows.bind_all(version, run);
  const int of_source = replays ? 5 : 1;  // the columns before it
  while (true) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) return cells;
    std::vector<std::uint64_t> numbers;
    for (int i = 1; i < of_source; ++i) numbers.push_back(rows.count(i));
    const std::string key =
        joined_key(rows.text(0), numbers, rows.text(of_source), rows.text(of_source + 1));
    cells[key] = {
        .place = {}, .source = rows.integer(of_source + 2), .id = rows.integer(of_source + 3)};
  }
}

}  // namespace kv::reports

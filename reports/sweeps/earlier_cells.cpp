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

}  // namespace

std::string result_key(const TraceInfo& trace, std::size_t top_k, const Cell& cell) {
  return joined_key(hexadecimal(trace.checksum),
                    {trace.kv_heads, trace.marks.prompt, trace.marks.question, top_k},
                    cell.spec.canonical(), std::to_string(cell.seed));
}

Result<EarlierCells> earlier_cells(Database& database, std::int64_t run) {
  Statement rows(database,
                 "SELECT checksum, kv_heads, ifnull(prompt, 0), ifnull(question, 0), top_k, spec,"
                 " seed, traces.id, cells.id FROM runs JOIN traces ON traces.run = runs.id"
                 " JOIN cells ON cells.trace = traces.id LEFT JOIN marks ON marks.trace = traces.id"
                 " WHERE runs.version = ? AND runs.id <> ?");
  rows.bind_all(version, run);
  EarlierCells cells;
  while (true) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) return cells;
    const std::vector<std::uint64_t> numbers = {rows.count(1), rows.count(2), rows.count(3),
                                                rows.count(4)};
    const std::string key = joined_key(rows.text(0), numbers, rows.text(5), rows.text(6));
    cells[key] = {.place = {}, .source = rows.integer(7), .id = rows.integer(8)};
  }
}

}  // namespace kv::reports

// The rows of one cell in the tables that refer to it.
#include <string_view>
#include <utility>

#include "kvcheck/reports/store/select_detail.h"

namespace kv::reports {
namespace {

// Requires a file with the table of summaries.
Result<void> select_summary(Database& database, std::int64_t cell, CellResult& result) {
  Statement rows(database,
                 "SELECT heads, units, retained_mass, kl_to_dense, topk_overlap, output_error,"
                 " visible_mean, visible_peak, stored_mean, stored_peak, kept_at_end, evictions,"
                 " trims, moved, lifetime_mean, bytes_peak FROM summaries WHERE cell = ?");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.summary = CellSummary{.means = {.retained_mass = row.real(2),
                                           .kl_to_dense = row.real(3),
                                           .topk_overlap = row.real(4),
                                           .output_error = row.real(5)},
                                 .sizes = {.visible_mean = row.real(6),
                                           .stored_mean = row.real(8),
                                           .visible_peak = row.count(7),
                                           .stored_peak = row.count(9),
                                           .kept_at_end = row.real(10),
                                           .evictions = row.count(11),
                                           .trims = row.count(12),
                                           .moved = row.count(13),
                                           .lifetime_mean = row.real(14),
                                           .bytes_peak = row.count(15)},
                                 .heads = row.count(0),
                                 .units = row.count(1)};
  });
}

Result<void> select_heads(Database& database, std::int64_t cell, CellResult& result) {
  Statement rows(database,
                 "SELECT layer, head, retained_mass, kl_to_dense, topk_overlap, output_error"
                 " FROM heads WHERE cell = ? ORDER BY ordinal");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.heads.push_back({.layer = row.count(0),
                            .head = row.count(1),
                            .metrics = {.retained_mass = row.real(2),
                                        .kl_to_dense = row.real(3),
                                        .topk_overlap = row.real(4),
                                        .output_error = row.real(5)}});
  });
}

Result<void> select_units(Database& database, std::int64_t cell, CellResult& result) {
  Statement rows(database,
                 "SELECT layer, head, stored_mean, stored_peak, visible_mean, visible_peak,"
                 " kept_at_end, evictions, trims, moved, lifetime_mean FROM units WHERE cell = ?"
                 " ORDER BY ordinal");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.units.push_back({.layer = row.count(0),
                            .head = row.count(1),
                            .stored_mean = row.real(2),
                            .stored_peak = row.count(3),
                            .visible_mean = row.real(4),
                            .visible_peak = row.count(5),
                            .kept_at_end = row.count(6),
                            .evictions = row.count(7),
                            .trims = row.count(8),
                            .moved = row.count(9),
                            .lifetime_mean = row.real(10)});
  });
}

Result<void> select_series(Database& database, std::int64_t cell, CellResult& result) {
  Statement rows(
      database,
      "SELECT first_step, retained_mass, kl_to_dense, topk_overlap, output_error, stored,"
      " kept, visible FROM series WHERE cell = ? ORDER BY ordinal");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.series.push_back({.first_step = static_cast<Position>(row.count(0)),
                             .retained_mass = row.real(1),
                             .kl_to_dense = row.real(2),
                             .topk_overlap = row.real(3),
                             .output_error = row.real(4),
                             .stored = row.real(5),
                             .kept = row.real(6),
                             .visible = row.real(7)});
  });
}

Result<void> select_bounds(Database& database, std::int64_t cell, CellResult& result) {
  Statement rows(database,
                 "SELECT layer, head, heads, optimum, per_step, greedy FROM bounds WHERE cell = ?"
                 " ORDER BY ordinal");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.bounds.push_back({.layer = row.count(0),
                             .head = row.count(1),
                             .heads = row.count(2),
                             .optimum = row.real(3),
                             .per_step = row.real(4),
                             .greedy = row.real(5)});
  });
}

Result<void> select_residency(Database& database,
                              std::int64_t cell,
                              std::size_t tokens,
                              CellResult& result) {
  Statement rows(database,
                 "SELECT layer, head, evicted_at FROM residency WHERE cell = ? ORDER BY ordinal");
  rows.bind_all(cell);
  Doubts doubts(database.path());
  const auto read = each(rows, [&](const Statement& row) {
    result.residency.push_back(
        {.layer = row.count(0),
         .head = row.count(1),
         .evicted_at = blob_at<Position>(row, 2, "residency.evicted_at", doubts)});
    doubts.require(result.residency.back().evicted_at.size() == tokens, "residency.evicted_at");
  });
  if (!read) return read.error();
  if (doubts.any()) return doubts.error();
  return {};
}

}  // namespace

Result<void> select_parts(
    Database& database, std::int64_t id, bool has_summaries, std::size_t tokens, CellResult& cell) {
  if (has_summaries) {
    if (const auto read = select_summary(database, id, cell); !read) return read;
  }
  for (const auto select : {select_heads, select_units, select_series, select_bounds}) {
    if (const auto read = select(database, id, cell); !read) return read;
  }
  return select_residency(database, id, tokens, cell);
}

}  // namespace kv::reports

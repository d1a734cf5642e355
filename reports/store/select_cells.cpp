// The rows of one cell in the tables that refer to it.
#include <string_view>
#include <utility>

#include "kvcheck/reports/store/schema.h"
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

HeadMetrics metrics_at(const Statement& row, int first) {
  return {.retained_mass = row.real(first),
          .kl_to_dense = row.real(first + 1),
          .topk_overlap = row.real(first + 2),
          .output_error = row.real(first + 3)};
}

// Requires a file with the table of samples.
Result<void> select_intervals(Database& database, std::int64_t cell, CellResult& result) {
  Statement one(database,
                "SELECT decided_on_sample, retained_mass, kl_to_dense, topk_overlap, output_error"
                " FROM sampled_cells WHERE cell = ?");
  one.bind_all(cell);
  const auto read = each(one, [&](const Statement& row) {
    result.decided_on_sample = row.count(0) != 0;
    result.half_widths = metrics_at(row, 1);
  });
  if (!read) return read;
  Statement heads(database,
                  "SELECT retained_mass, kl_to_dense, topk_overlap, output_error FROM sampled_heads"
                  " WHERE cell = ? ORDER BY ordinal");
  heads.bind_all(cell);
  std::size_t head = 0;
  return each(heads, [&](const Statement& row) {
    if (head < result.heads.size()) result.heads[head++].half_widths = metrics_at(row, 0);
  });
}

}  // namespace

Result<void> select_sample(Database& database, std::int64_t trace, TraceInfo& info) {
  const auto there = has_table(database, "sampled_traces");
  if (!there || !*there) return there ? Result<void>() : there.error();
  Doubts doubts(database.path());
  Statement sample(database, "SELECT design, queries FROM sampled_traces WHERE trace = ?");
  sample.bind_all(trace);
  const auto read = each(sample, [&](const Statement& row) {
    info.queries = blob_at<Position>(row, 1, "sampled_traces.queries", doubts);
    if (const std::string text = row.text(0); !text.empty()) {
      auto design = parse_query_design(text);
      doubts.require(design.has_value(), "sampled_traces.design");
      if (design) info.query_design = *std::move(design);
    }
    const bool right = check_queries(info.queries, info.query_design, info.tokens).has_value();
    doubts.require(right, "sampled_traces.queries");
  });
  if (!read) return read;
  Statement heads(database, "SELECT numbers FROM recorded_kv_heads WHERE trace = ?");
  heads.bind_all(trace);
  const auto numbers = each(heads, [&](const Statement& row) {
    for (const std::string_view word : split(row.text(0), ',')) {
      info.kv_head_numbers.push_back(number_at(word, "recorded_kv_heads.numbers", doubts));
    }
    doubts.require(info.kv_head_numbers.size() == info.kv_heads, "recorded_kv_heads.numbers");
  });
  if (!numbers) return numbers;
  return doubts.any() ? Result<void>(doubts.error()) : Result<void>();
}

Result<void> select_parts(Database& database,
                          std::int64_t id,
                          bool has_summaries,
                          const TraceInfo& trace,
                          CellResult& cell) {
  if (has_summaries) {
    if (const auto read = select_summary(database, id, cell); !read) return read;
  }
  for (const auto select : {select_heads, select_units, select_series, select_bounds}) {
    if (const auto read = select(database, id, cell); !read) return read;
  }
  if (!trace.queries.empty()) {
    if (const auto read = select_intervals(database, id, cell); !read) return read;
  }
  return select_residency(database, id, trace.tokens, cell);
}

}  // namespace kv::reports

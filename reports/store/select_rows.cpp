#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/blob.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/select_detail.h"
#include "kvcheck/reports/store/stored_names.h"

namespace kv::reports {
namespace {

template <typename T>
std::vector<T> blob_at(const Statement& row, int column, std::string_view name, Doubts& doubts) {
  auto values = from_blob<T>(row.blob(column));
  doubts.require(values.has_value(), name);
  return values ? std::move(*values) : std::vector<T>();
}

template <typename T>
T word_at(std::optional<T> value, std::string_view name, Doubts& doubts) {
  doubts.require(value.has_value(), name);
  return value.value_or(T{});
}

TraceInfo info_of(const Statement& row, Doubts& doubts) {
  TraceInfo info;
  info.name = row.text(0);
  info.kind = word_at(trace_kind_of(row.text(1)), "traces.kind", doubts);
  info.model = row.text(2);
  info.source = row.text(3);
  info.licence = row.text(4);
  info.loop = row.text(5);
  info.tokens = row.count(6);
  // Positions have 32 bits, and the largest of them is not the index of a token.
  doubts.require(info.tokens < std::numeric_limits<Position>::max(), "traces.tokens");
  info.query_heads = row.count(7);
  info.kv_heads = row.count(8);
  info.head_dim = row.count(9);
  if (const std::string layers = row.text(10); !layers.empty()) {
    for (const std::string_view word : split(layers, ',')) {
      info.layers.push_back(number_at(word, "traces.layers", doubts));
    }
  }
  info.trained_context = row.count(11);
  info.rope.layout = word_at(rope_layout_of(row.text(12)), "traces.rope_layout", doubts);
  info.rope.dims = row.count(13);
  info.rope.theta = row.real(14);
  info.number = word_at(number_of(row.text(15)), "traces.number", doubts);
  info.checksum = from_hexadecimal(row.text(16), "traces.checksum", doubts);
  return info;
}

AttentionMap map_of(const Statement& row, Doubts& doubts) {
  AttentionMap map{.layer = row.count(19),
                   .head = row.count(20),
                   .side = row.count(21),
                   .block = row.count(22),
                   .mass = {}};
  map.mass = blob_at<float>(row, 23, "traces.map_mass", doubts);
  const std::size_t count = map.mass.size();
  // Divided, not multiplied: a damaged side squared could overflow and match.
  const bool square =
      map.side == 0 ? count == 0 : count % map.side == 0 && count / map.side == map.side;
  doubts.require(square, "traces.map_mass");
  return map;
}

Result<ReplayResult> select_header(Database& database, std::int64_t trace) {
  Statement row(database,
                "SELECT name, kind, model, source, licence, loop, tokens, query_heads, kv_heads,"
                " head_dim, layers, trained_context, rope_layout, rope_dims, rope_theta, number,"
                " checksum, top_k, series_width, map_layer, map_head, map_side, map_block, map_mass"
                " FROM traces WHERE id = ?");
  row.bind_all(trace);
  if (const auto there = row.next(); !there) return there.error();
  Doubts doubts(database.path());
  ReplayResult result;
  result.trace = info_of(row, doubts);
  result.top_k = row.count(17);
  result.series_width = row.count(18);
  result.map = map_of(row, doubts);
  if (doubts.any()) return doubts.error();
  if (const Result<void> right = row.right_types(); !right) return right.error();
  return result;
}

Result<void> select_dense(Database& database, std::int64_t trace, ReplayResult& result) {
  Statement rows(database,
                 "SELECT layer, head, first_mass, sinks_mass, recent_mass, entropy FROM dense"
                 " WHERE trace = ? ORDER BY ordinal");
  rows.bind_all(trace);
  return each(rows, [&](const Statement& row) {
    result.dense.push_back({.layer = row.count(0),
                            .head = row.count(1),
                            .first_mass = row.real(2),
                            .sinks_mass = row.real(3),
                            .recent_mass = row.real(4),
                            .entropy = row.real(5)});
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

Result<CellResult> cell_of(const Statement& row, std::size_t tokens, Doubts& doubts) {
  CellResult result;
  auto spec = parse_spec(row.text(1));
  if (!spec) {
    doubts.require(false, "cells.spec");
    return doubts.error();
  }
  result.cell = {.spec = std::move(*spec), .seed = number_at(row.text(2), "cells.seed", doubts)};
  result.bytes_per_row = row.count(3);
  result.kept = blob_at<std::uint32_t>(row, 4, "cells.kept", doubts);
  doubts.require(result.kept.empty() || result.kept.size() == tokens, "cells.kept");
  result.lifetimes = blob_at<std::uint64_t>(row, 5, "cells.lifetimes", doubts);
  doubts.require(result.lifetimes.empty() || result.lifetimes.size() == tokens + 1,
                 "cells.lifetimes");
  if (doubts.any()) return doubts.error();
  return result;
}

}  // namespace

Result<ReplayResult> select_trace(Database& database, std::int64_t trace) {
  auto result = select_header(database, trace);
  if (!result) return result;
  if (const auto read = select_dense(database, trace, *result); !read) return read.error();
  const std::size_t tokens = result->trace.tokens;
  Statement rows(database,
                 "SELECT id, spec, seed, bytes_per_row, kept, lifetimes FROM cells WHERE trace = ?"
                 " ORDER BY ordinal");
  rows.bind_all(trace);
  Doubts doubts(database.path());
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return result;
    auto cell = cell_of(rows, tokens, doubts);
    if (!cell) return cell.error();
    const std::int64_t id = rows.integer(0);
    for (const auto select : {select_heads, select_units, select_series, select_bounds}) {
      if (const auto read = select(database, id, *cell); !read) return read.error();
    }
    if (const auto read = select_residency(database, id, tokens, *cell); !read) return read.error();
    result->cells.push_back(std::move(*cell));
  }
}

}  // namespace kv::reports

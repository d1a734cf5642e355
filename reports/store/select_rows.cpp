#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/select_detail.h"
#include "kvcheck/reports/store/stored_names.h"

namespace kv::reports {
namespace {

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

Result<CellResult> cell_of(const Statement& row, const TraceInfo& trace, Doubts& doubts) {
  CellResult result;
  const std::size_t tokens = trace.tokens;
  auto spec = parse_spec(row.text(1));
  // The sizes that the marks gave it when it was replayed.
  if (spec) spec = resolved(*spec, trace.marks, tokens, "the trace");
  if (!spec) {
    doubts.require_spec(spec, row.text(1), "cells.spec");
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

// A file of version 4 has no such table, and its runs no marks.
Result<Marks> select_marks(Database& database,
                           const std::string& table,
                           const std::string& key,
                           std::int64_t id) {
  const auto there = has_table(database, table);
  if (!there) return there.error();
  if (!*there) return Marks();
  Statement row(database,
                ("SELECT prompt, question FROM " + table + " WHERE " + key + " = ?").c_str());
  row.bind_all(id);
  const auto found = row.next();
  if (!found) return found.error();
  if (!*found) return Marks();
  const Marks marks{.prompt = row.count(0), .question = row.count(1)};
  Doubts doubts(database.path());
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  doubts.require(marks.known() && marks.prompt <= most && marks.question <= most,
                 table + ".prompt");
  if (doubts.any()) return doubts.error();
  if (const Result<void> right = row.right_types(); !right) return right.error();
  return marks;
}

Result<ModelInputs> select_inputs(Database& database,
                                  const std::string& table,
                                  const std::string& key,
                                  std::int64_t id) {
  const auto there = has_table(database, table);
  if (!there) return there.error();
  if (!*there) return ModelInputs();
  Statement row(database,
                ("SELECT weights, cell FROM " + table + " WHERE " + key + " = ?").c_str());
  row.bind_all(id);
  const auto found = row.next();
  if (!found) return found.error();
  if (!*found) return ModelInputs();
  Doubts doubts(database.path());
  const ModelInputs inputs{.weights = from_hexadecimal(row.text(0), table + ".weights", doubts),
                           .cell = from_hexadecimal(row.text(1), table + ".cell", doubts)};
  if (doubts.any()) return doubts.error();
  if (const Result<void> right = row.right_types(); !right) return right.error();
  return inputs;
}

Result<ReplayResult> select_trace_alone(Database& database, std::int64_t trace) {
  auto result = select_header(database, trace);
  if (!result) return result;
  if (const auto read = select_dense(database, trace, *result); !read) return read.error();
  const auto marks = select_marks(database, "marks", "trace", trace);
  if (!marks) return marks.error();
  result->trace.marks = *marks;
  if (const auto read = select_sample(database, trace, result->trace); !read) return read.error();
  return result;
}

Result<CellResult> select_cell(Database& database, std::int64_t cell, const TraceInfo& trace) {
  const auto has_summaries = has_table(database, "summaries");
  if (!has_summaries) return has_summaries.error();
  Statement row(database,
                "SELECT id, spec, seed, bytes_per_row, kept, lifetimes FROM cells WHERE id = ?");
  row.bind_all(cell);
  if (const auto there = row.next(); !there) return there.error();
  Doubts doubts(database.path());
  auto result = cell_of(row, trace, doubts);
  if (!result) return result;
  if (const Result<void> right = row.right_types(); !right) return right.error();
  const auto read = select_parts(database, cell, *has_summaries, trace, *result);
  if (!read) return read.error();
  return result;
}

Result<ReplayResult> select_trace(Database& database, std::int64_t trace) {
  auto result = select_trace_alone(database, trace);
  if (!result) return result;
  Statement rows(database, "SELECT id FROM cells WHERE trace = ? ORDER BY ordinal");
  rows.bind_all(trace);
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return result;
    auto cell = select_cell(database, rows.integer(0), result->trace);
    if (!cell) return cell.error();
    result->cells.push_back(*std::move(cell));
  }
}

}  // namespace kv::reports

#include <algorithm>
#include <utility>

#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/reports/store/select_detail.h"

namespace kv::reports {
namespace {

Result<ClosedLoopResult> select_about(Database& database, std::int64_t evaluation) {
  Statement row(database,
                "SELECT model, architecture, weight_bytes, trained_context, text, checksum,"
                " storage, window, streams, tokens, longest, segment, series_width"
                " FROM evaluations WHERE id = ?");
  row.bind_all(evaluation);
  if (const auto there = row.next(); !there) return there.error();
  Doubts doubts(database.path());
  ClosedLoopResult result;
  result.model = row.text(0);
  result.architecture = row.text(1);
  result.weight_bytes = row.count(2);
  result.context = row.count(3);
  result.text = row.text(4);
  result.checksum = from_hexadecimal(row.text(5), "evaluations.checksum", doubts);
  result.storage = row.text(6);
  result.window = row.count(7);
  result.streams = row.count(8);
  result.tokens = row.count(9);
  result.longest = row.count(10);
  result.segment = row.count(11);
  result.series_width = row.count(12);
  const bool steps = result.series_width > 0 && result.segment > 0;
  // Tables divide by both, and a segment must be a whole number of points.
  doubts.require(steps && result.segment % result.series_width == 0, "evaluations.segment");
  if (doubts.any()) return doubts.error();
  if (const Result<void> right = row.right_types(); !right) return right.error();
  return result;
}

Result<void> select_series(Database& database, std::int64_t cell, ClosedLoopCell& result) {
  Statement rows(database,
                 "SELECT first_target, targets, nats FROM eval_series WHERE cell = ?"
                 " ORDER BY ordinal");
  rows.bind_all(cell);
  return each(rows, [&](const Statement& row) {
    result.series.push_back({.first = row.count(0), .targets = row.count(1), .nats = row.real(2)});
  });
}

Result<void> select_after(Database& database, std::int64_t cell, ClosedLoopCell& result) {
  const auto there = has_table(database, "eval_after");
  if (!there) return there.error();
  if (!*there) return {};
  Statement rows(database, "SELECT targets, nats FROM eval_after WHERE cell = ?");
  rows.bind_all(cell);
  const auto read = each(rows, [&](const Statement& row) {
    result.targets_after = row.count(0);
    result.nats_after = row.real(1);
  });
  if (!read) return read.error();
  Doubts doubts(database.path());
  doubts.require(result.targets_after <= result.targets(), "eval_after.targets");
  if (doubts.any()) return doubts.error();
  return {};
}

Result<void> select_open_loop(Database& database,
                              std::int64_t cell,
                              const ClosedLoopResult& of,
                              ClosedLoopCell& result) {
  const auto there = has_table(database, "eval_open_loop");
  if (!there) return there.error();
  if (!*there) return {};
  Statement rows(database, "SELECT queries FROM eval_open_loop WHERE cell = ?");
  rows.bind_all(cell);
  const auto read = each(rows, [&](const Statement& row) { result.queries_after = row.count(0); });
  if (!read) return read.error();
  if (result.queries_after == 0) return {};
  Doubts doubts(database.path());
  doubts.require(
      result.queries_after <= of.tokens && result.retained_mass_after(of.tokens) >= -0.001,
      "eval_open_loop.queries");
  if (doubts.any()) return doubts.error();
  return {};
}

Result<void> select_recall(Database& database, std::int64_t cell, ClosedLoopCell& result) {
  Statement rows(database,
                 "SELECT first_distance, last_distance, asked, answered FROM eval_recall"
                 " WHERE cell = ? ORDER BY ordinal");
  rows.bind_all(cell);
  Doubts doubts(database.path());
  const auto read = each(rows, [&](const Statement& row) {
    result.recall.push_back({.first = row.count(0),
                             .last = row.count(1),
                             .asked = row.count(2),
                             .right = row.count(3)});
    doubts.require(result.recall.back().right <= result.recall.back().asked,
                   "eval_recall.answered");
  });
  if (!read) return read.error();
  if (doubts.any()) return doubts.error();
  return {};
}

// Tables have the same bins for all cells, since every policy is asked the same questions.
bool same_bins(const ClosedLoopCell& a, const ClosedLoopCell& b) {
  return std::ranges::equal(a.recall, b.recall, [](const RecallBin& one, const RecallBin& other) {
    return one.first == other.first && one.last == other.last;
  });
}

Result<ClosedLoopCell> select_cell(Database& database,
                                   const Statement& row,
                                   const ClosedLoopResult& of) {
  Doubts doubts(database.path());
  auto spec = parse_spec(row.text(1));
  // The sizes that the marks gave it when it was evaluated.
  if (spec) spec = resolved(*spec, of.marks, of.longest, "the text");
  if (!spec) {
    doubts.require_spec(spec, row.text(1), "eval_cells.spec");
    return doubts.error();
  }
  ClosedLoopCell cell;
  cell.cell = {.spec = *spec, .seed = number_at(row.text(2), "eval_cells.seed", doubts)};
  cell.kv_bytes = row.count(3);
  cell.retained_mass = row.real(4);
  // Written as a negation, because NaN stands for a mass that was not measured. Sums of rounded
  // masses may be slightly above 1.
  doubts.require(!(cell.retained_mass < 0 || cell.retained_mass > 1.001),
                 "eval_cells.retained_mass");
  if (doubts.any()) return doubts.error();
  const std::int64_t id = row.integer(0);
  if (const auto read = select_series(database, id, cell); !read) return read.error();
  if (const auto read = select_after(database, id, cell); !read) return read.error();
  if (const auto read = select_open_loop(database, id, of, cell); !read) return read.error();
  if (const auto read = select_recall(database, id, cell); !read) return read.error();
  return cell;
}

}  // namespace

Result<ClosedLoopResult> select_evaluation_alone(Database& database, std::int64_t evaluation) {
  auto result = select_about(database, evaluation);
  if (!result) return result;
  const auto marks = select_marks(database, "eval_marks", "evaluation", evaluation);
  if (!marks) return marks.error();
  result->marks = *marks;
  const auto inputs = select_inputs(database, "eval_inputs", "evaluation", evaluation);
  if (!inputs) return inputs.error();
  result->inputs = *inputs;
  return result;
}

Result<ClosedLoopCell> select_evaluation_cell(Database& database,
                                              std::int64_t id,
                                              const ClosedLoopResult& of) {
  Statement row(database,
                "SELECT id, spec, seed, kv_bytes, retained_mass FROM eval_cells WHERE id = ?");
  row.bind_all(id);
  if (const auto there = row.next(); !there) return there.error();
  return select_cell(database, row, of);
}

Result<ClosedLoopResult> select_evaluation(Database& database, std::int64_t evaluation) {
  auto result = select_evaluation_alone(database, evaluation);
  if (!result) return result;
  Statement rows(
      database,
      "SELECT id, spec, seed, kv_bytes, retained_mass FROM eval_cells WHERE evaluation = ?"
      " ORDER BY ordinal");
  rows.bind_all(evaluation);
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return result;
    auto cell = select_cell(database, rows, *result);
    if (!cell) return cell.error();
    Doubts doubts(database.path());
    doubts.require(result->cells.empty() || same_bins(result->cells.front(), *cell),
                   "eval_recall.first_distance");
    if (doubts.any()) return doubts.error();
    result->cells.push_back(*std::move(cell));
  }
}

}  // namespace kv::reports

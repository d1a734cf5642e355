#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/select_detail.h"

namespace kv::reports {
namespace {

Result<TimedCell> select_timed(Database& database, const Statement& row) {
  Doubts doubts(database.path());
  const auto spec = parse_spec(row.text(0));
  doubts.require(spec.has_value(), "timed_cells.spec");
  TimedCell cell;
  cell.cell.seed = number_at(row.text(1), "timed_cells.seed", doubts);
  cell.length = row.count(2);
  cell.first_token_s = row.real(3);
  cell.token_s = row.real(4);
  cell.attention_s = row.real(5);
  cell.kv_bytes = row.count(6);
  cell.peak_bytes = row.count(7);
  doubts.require(cell.length > 0, "timed_cells.length");
  doubts.require(cell.token_s > 0, "timed_cells.token_s");
  if (doubts.any()) return doubts.error();
  cell.cell.spec = *spec;
  return cell;
}

}  // namespace

Result<void> insert_timing(Database& database, const RunPlace& place, const TimingResult& result) {
  const auto text = [](const std::string& words) { return std::string_view(words); };
  Statement about(
      database,
      "INSERT INTO timings (run, ordinal, model, weights, weight_bytes, storage, tokens)"
      " VALUES (?,?,?,?,?,?,?)");
  const auto done = about.run(place.run, place.ordinal, text(result.model), text(result.weights),
                              result.weight_bytes, text(result.storage), result.tokens);
  if (!done) return done.error();
  const std::int64_t timing = database.last_id();
  Statement insert(database, "INSERT INTO timed_cells VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
  std::int64_t ordinal = 0;
  for (const TimedCell& cell : result.cells) {
    const Spec& spec = cell.cell.spec;
    const std::string canonical = spec.canonical();
    const std::string label = spec.label();
    const std::string seed = std::to_string(cell.cell.seed);
    const auto added =
        insert.run(timing, ordinal++, text(canonical), spec.policy->name, text(label), spec.budget,
                   text(seed), cell.length, cell.first_token_s, cell.token_s, cell.attention_s,
                   cell.kv_bytes, cell.peak_bytes);
    if (!added) return added.error();
  }
  return {};
}

Result<TimingResult> select_timing(Database& database, std::int64_t timing) {
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
  Statement rows(database,
                 "SELECT spec, seed, length, first_token_s, token_s, attention_s, kv_bytes,"
                 " peak_bytes FROM timed_cells WHERE timing = ? ORDER BY ordinal");
  rows.bind_all(timing);
  while (true) {
    const auto there = rows.next();
    if (!there) return there.error();
    if (!*there) return result;
    auto cell = select_timed(database, rows);
    if (!cell) return cell.error();
    result.cells.push_back(*std::move(cell));
  }
}

}  // namespace kv::reports

#include "kvcheck/reports/sweeps/sweep_runs.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/store/schema.h"

namespace kv::reports {
namespace {

// The plan begins with the field of its kind; replays are the oldest.
SweepKind kind_of(const std::string& plan) {
  for (const SweepKind kind : {SweepKind::eval, SweepKind::tasks, SweepKind::speed}) {
    if (plan.starts_with("{\"" + std::string(name_of(kind)) + "\":")) return kind;
  }
  return SweepKind::replay;
}

void write_metrics(const HeadMetrics& metrics, PackedWriter& writer) {
  for (const double value :
       {metrics.retained_mass, metrics.kl_to_dense, metrics.topk_overlap, metrics.output_error}) {
    writer.bits(value);
  }
}

void write_summary(const CellSummary& summary, PackedWriter& writer) {
  const CellSizes& sizes = summary.sizes;
  write_metrics(summary.means, writer);
  for (const double value :
       {sizes.visible_mean, sizes.stored_mean, sizes.kept_at_end, sizes.lifetime_mean}) {
    writer.bits(value);
  }
  for (const std::uint64_t value :
       {sizes.visible_peak, sizes.stored_peak, sizes.evictions, sizes.trims, sizes.moved,
        sizes.bytes_peak, summary.heads, summary.units}) {
    writer.number(value);
  }
}

void write_unit(const UnitResult& unit, PackedWriter& writer) {
  for (const double value : {unit.stored_mean, unit.visible_mean, unit.lifetime_mean}) {
    writer.bits(value);
  }
  for (const std::uint64_t value :
       {std::uint64_t{unit.layer}, std::uint64_t{unit.head}, unit.stored_peak, unit.visible_peak,
        unit.kept_at_end, unit.evictions, unit.trims, unit.moved}) {
    writer.number(value);
  }
}

void write_point(const SeriesPoint& point, PackedWriter& writer) {
  writer.number(point.first_step);
  for (const double value : {point.retained_mass, point.kl_to_dense, point.topk_overlap,
                             point.output_error, point.stored, point.kept, point.visible}) {
    writer.bits(value);
  }
}

}  // namespace

Result<std::vector<SweepRun>> sweep_runs(Database& database) {
  const auto there = has_table(database, "sweeps");
  if (!there) return there.error();
  std::vector<SweepRun> runs;
  if (!*there) return runs;
  Statement rows(database,
                 "SELECT id, version, status = 'complete', command, identity, plan, traces, cells,"
                 " total FROM runs JOIN sweeps ON sweeps.run = runs.id ORDER BY id");
  while (true) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) break;
    runs.push_back({.id = rows.integer(0),
                    .version = rows.text(1),
                    .complete = rows.integer(2) != 0,
                    .sweep = {.command = rows.text(3),
                              .identity = rows.text(4),
                              .plan = rows.text(5),
                              .sources = rows.count(6),
                              .cells = rows.count(7),
                              .total = rows.count(8),
                              .kind = kind_of(rows.text(5))}});
  }
  if (const Result<void> right = rows.right_types(); !right) return right.error();
  return runs;
}

Result<std::vector<HeldCell>> held_cells(Database& database, const SweepRun& run) {
  const SweepTables tables = tables_of(run.sweep.kind);
  const std::string of_sources = std::string(tables.sources) + ".";
  const std::string of_cells = std::string(tables.cells) + ".";
  const std::string sql = "SELECT " + of_sources + "ordinal, " + of_cells + "ordinal, " +
                          of_sources + "id, " + std::string(tables.id) + " FROM " +
                          std::string(tables.cells) + " JOIN " + std::string(tables.sources) +
                          " ON " + of_sources + "id = " + of_cells + std::string(tables.source) +
                          " WHERE " + of_sources + "run = ? ORDER BY 1, 2";
  Statement rows(database, sql.c_str());
  rows.bind_all(run.id);
  std::vector<HeldCell> held;
  while (true) {
    const auto row = rows.next();
    if (!row) return row.error();
    if (!*row) break;
    HeldCell cell{.place = {.source = rows.count(0), .cell = rows.count(1)},
                  .source = rows.integer(2),
                  .id = rows.integer(3)};
    // The first and only row has the cells of all sources.
    if (tables.one_row && cell.place.source == 0 && run.sweep.cells > 0) {
      cell.place = {.source = cell.place.cell / run.sweep.cells,
                    .cell = cell.place.cell % run.sweep.cells};
    }
    held.push_back(cell);
    const SweepPlace& place = held.back().place;
    if (place.source < run.sweep.sources && place.cell < run.sweep.cells) continue;
    return malformed("'" + database.path() + "' is damaged: run " + std::to_string(run.id) +
                     " holds cell " + std::to_string(place.cell) + " of source " +
                     std::to_string(place.source) + ", expected " +
                     std::to_string(run.sweep.cells) + " cells of " +
                     std::to_string(run.sweep.sources) + " sources");
  }
  if (const Result<void> right = rows.right_types(); !right) return right.error();
  return held;
}

Result<SweepRun> run_to_continue(Database& database, const SweepIdentity& sweep) {
  const auto runs = sweep_runs(database);
  if (!runs) return runs.error();
  Statement newest(database, "SELECT max(id) FROM runs");
  const auto row = newest.next();
  if (!row) return row.error();
  SweepRun found;
  for (const SweepRun& run : *runs) {
    const bool same = run.version == version && run.sweep.identity == sweep.identity;
    if (same && (run.complete || run.id == newest.integer(0))) found = run;
  }
  return found;
}

Result<std::vector<SweepPlace>> places_held(const std::string& path, const SweepIdentity& sweep) {
  std::vector<SweepPlace> places;
  std::error_code unknown;
  if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found) {
    return places;
  }
  auto database = open_to_read(path);
  if (!database) return database.error();
  const auto run = run_to_continue(*database, sweep);
  if (!run) return run.error();
  if (run->id == 0) return places;
  const auto held = held_cells(*database, *run);
  if (!held) return held.error();
  for (const HeldCell& cell : *held) places.push_back(cell.place);
  return places;
}

std::vector<std::byte> bytes_of_results(const CellResult& cell) {
  PackedWriter writer;
  writer.number(cell.summary ? 1 : 0);
  if (cell.summary) write_summary(*cell.summary, writer);
  writer.number(cell.heads.size());
  for (const HeadResult& head : cell.heads) {
    writer.number(head.layer);
    writer.number(head.head);
    write_metrics(head.metrics, writer);
  }
  writer.number(cell.units.size());
  for (const UnitResult& unit : cell.units) write_unit(unit, writer);
  writer.number(cell.series.size());
  for (const SeriesPoint& point : cell.series) write_point(point, writer);
  writer.numbers(cell.kept);
  writer.numbers(cell.lifetimes);
  writer.number(cell.residency.size());
  for (const Residency& unit : cell.residency) {
    writer.number(unit.layer);
    writer.number(unit.head);
    writer.numbers(unit.evicted_at);
  }
  writer.number(cell.bounds.size());
  for (const UnitBounds& unit : cell.bounds) {
    for (const std::size_t value : {unit.layer, unit.head, unit.heads}) writer.number(value);
    for (const double value : {unit.optimum, unit.per_step, unit.greedy}) writer.bits(value);
  }
  writer.number(cell.bytes_per_row);
  return writer.take();
}

}  // namespace kv::reports

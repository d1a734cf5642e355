// Runs of sweeps in results files, and where a file holds a cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/sweeps/sweep_results.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// What tells one sweep from another, and its size (the table `sweeps` of reports/SCHEMA.md).
struct SweepIdentity {
  std::string command;
  std::string identity;     // of the plan and its sources: 16 hexadecimal digits
  std::string plan;         // as JSON
  std::size_t sources = 0;  // in the plan
  std::size_t cells = 0;    // of each source, before any is left out
  std::size_t total = 0;    // cells that a complete run holds
  SweepKind kind = SweepKind::replay;

  bool operator==(const SweepIdentity&) const = default;
};

struct SweepRun {
  std::int64_t id = 0;
  std::string version;
  bool complete = false;
  SweepIdentity sweep;
};

// The runs of sweeps in the file, oldest first.
Result<std::vector<SweepRun>> sweep_runs(Database& database);

// The place of a cell in its plan: the indices of the source and of the cell among its cells.
struct SweepPlace {
  std::size_t source = 0;
  std::size_t cell = 0;

  bool operator==(const SweepPlace&) const = default;
};

// A cell that a run of a sweep holds.
struct HeldCell {
  SweepPlace place;
  std::int64_t source = 0;  // the id of its source's row
  std::int64_t id = 0;      // of the cell's row
};

// The cells of one run, by source and place. Error: a place that the plan does not have.
Result<std::vector<HeldCell>> held_cells(Database& database, const SweepRun& run);

// The run of this version and identity that is continued: a complete one, or the newest of the
// file. Its id is 0 if there is none.
Result<SweepRun> run_to_continue(Database& database, const SweepIdentity& sweep);

// The places of the run that SweepFile::open would continue. The file does not change; none if
// there is no such file or run. Errors: those of open_to_read.
Result<std::vector<SweepPlace>> places_held(const std::string& path, const SweepIdentity& sweep);

// Everything that a file stores of a cell, as bytes: two cells have the same bytes if and only if
// all their results are the same to the last bit.
std::vector<std::byte> bytes_of_results(const CellResult& cell);

}  // namespace kv::reports

#include "kvcheck/reports/sweeps/merge.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/store/result_rows.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/sweeps/sweep_file.h"

namespace kv::reports {
namespace {

struct Input {
  std::string path;
  Database database;
  SweepRun run;
};

std::string quoted(const std::string& path) {
  return "'" + path + "'";
}

Result<Input> open_input(const std::string& path) {
  auto database = open_to_read(path);
  if (!database) return database.error();
  auto runs = sweep_runs(*database);
  if (!runs) return runs.error();
  if (runs->empty()) {
    return malformed(quoted(path) + " holds no run of kvcheck sweep; expected the file of a shard");
  }
  Input input{.path = path, .database = *std::move(database), .run = std::move(runs->back())};
  if (input.run.version == version) return input;
  return Error{Error::Kind::unsupported, quoted(path) + " was written by kvcheck " +
                                             printable_line(input.run.version) + "; expected " +
                                             std::string(version) +
                                             ", because the results of versions may differ"};
}

// Whether `other` is of the same sweep as `first`.
Result<void> check_same(const Input& first, const Input& other) {
  const SweepIdentity& a = first.run.sweep;
  const SweepIdentity& b = other.run.sweep;
  if (a.identity == b.identity) return {};
  const bool same_plan = a.plan == b.plan;
  return malformed(quoted(other.path) + " holds " +
                   (same_plan ? "other traces of the plan" : "a sweep of another plan") + " than " +
                   quoted(first.path) + " (" + printable_line(b.identity) + ", expected " +
                   printable_line(a.identity) + ")");
}

// What is stored of a trace besides its cells; the identity of the sweep has its checksum.
std::vector<std::byte> bytes_of_trace(const ReplayResult& result) {
  PackedWriter writer;
  for (const char c : result.trace.name) writer.number(static_cast<unsigned char>(c));
  writer.number(result.top_k);
  writer.number(result.series_width);
  for (const DenseFacts& head : result.dense) {
    writer.number(head.layer);
    writer.number(head.head);
    for (const double value : {head.first_mass, head.sinks_mass, head.recent_mass, head.entropy}) {
      writer.bits(value);
    }
  }
  for (const float mass : result.map.mass) writer.bits(mass);
  return writer.take();
}

Error differs(const std::string& path, const std::string& output, const std::string& what) {
  return malformed(quoted(path) + " and " + quoted(output) + " have different results of " +
                   printable_line(what) + "; expected the same, because nothing but the plan " +
                   "decides them");
}

std::string named(const CellResult& cell, const TraceInfo& trace) {
  return "the cell '" + cell.cell.spec.canonical() + "' with seed " +
         std::to_string(cell.cell.seed) + " on '" + trace.name + "'";
}

class Merge {
 public:
  Merge(SweepFile& file, std::string output) : file_(file), output_(std::move(output)) {}

  // Adds the cells of one trace of an input.
  Result<void> add(Input& input, std::span<const HeldCell> cells, Merged& merged) {
    const std::size_t trace = cells.front().place.trace;
    auto result = select_trace_alone(input.database, cells.front().trace);
    if (!result) return result.error();
    std::vector<std::size_t> places;
    for (const HeldCell& held : cells) {
      auto cell = select_cell(input.database, held.id, result->trace);
      if (!cell) return cell.error();
      if (file_.holds(held.place)) {
        if (auto same = check_cell(input, held.place, *result, *cell); !same) return same;
        ++merged.shared;
        continue;
      }
      places.push_back(held.place.cell);
      result->cells.push_back(*std::move(cell));
    }
    merged.added += places.size();
    return file_.add(trace, places, *result);
  }

 private:
  Result<void> check_cell(const Input& input,
                          const SweepPlace& place,
                          const ReplayResult& trace,
                          const CellResult& cell) {
    const auto own_trace = file_.trace_alone(place);
    if (!own_trace) return own_trace.error();
    if (bytes_of_trace(*own_trace) != bytes_of_trace(trace)) {
      return differs(input.path, output_, "the trace '" + trace.trace.name + "'");
    }
    const auto own = file_.cell(place, own_trace->trace);
    if (!own) return own.error();
    if (own->cell == cell.cell && bytes_of_results(*own) == bytes_of_results(cell)) return {};
    return differs(input.path, output_, named(cell, trace.trace));
  }

  SweepFile& file_;
  std::string output_;
};

Result<Merged> merge_into(SweepFile& file,
                          std::vector<Input>& inputs,
                          const std::string& output,
                          const MergeProgress& progress) {
  Merged merged;
  Merge merge(file, output);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto cells = held_cells(inputs[i].database, inputs[i].run);
    if (!cells) return cells.error();
    for (std::size_t first = 0; first < cells->size();) {
      std::size_t last = first;
      while (last < cells->size() && (*cells)[last].trace == (*cells)[first].trace) ++last;
      const auto of_trace = std::span(*cells).subspan(first, last - first);
      if (auto added = merge.add(inputs[i], of_trace, merged); !added) return added.error();
      first = last;
      const double share = (static_cast<double>(i) +
                            static_cast<double>(first) / static_cast<double>(cells->size())) /
                           static_cast<double>(inputs.size());
      if (progress && !progress(share)) return io_error("stopped before all files were merged");
    }
  }
  if (const auto finished = file.finish(); !finished) return finished.error();
  merged.held = file.held();
  merged.total = inputs.front().run.sweep.total;
  return merged;
}

}  // namespace

Result<Merged> merge_sweeps(std::span<const std::string> inputs,
                            const std::string& output,
                            const MergeProgress& progress) {
  std::vector<Input> opened;
  for (const std::string& path : inputs) {
    std::error_code none;
    if (std::filesystem::equivalent(path, output, none)) {
      return usage_error(quoted(path) + " is an input and the output; expected another output");
    }
    auto input = open_input(path);
    if (!input) return input.error();
    opened.push_back(*std::move(input));
    if (auto same = check_same(opened.front(), opened.back()); !same) return same.error();
  }
  auto file = SweepFile::open(output, opened.front().run.sweep);
  if (!file) return file.error();
  auto merged = merge_into(*file, opened, output, progress);
  if (!merged) file->discard();
  return merged;
}

}  // namespace kv::reports

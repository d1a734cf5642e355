#include "kvcheck/reports/sweeps/merge.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/version.h"
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
  return malformed(
      quoted(other.path) + " holds " +
      (same_plan ? "other traces, texts or models of the plan" : "a sweep of another plan") +
      " than " + quoted(first.path) + " (" + printable_line(b.identity) + ", expected " +
      printable_line(a.identity) + ")");
}

Error differs(const std::string& path, const std::string& what) {
  return malformed(quoted(path) + " has another result than the files before it of " +
                   printable_line(what) + "; expected the same, because nothing but the plan " +
                   "decides it");
}

class Merge {
 public:
  Merge(SweepFile& file, SweepKind kind) : file_(file), kind_(kind) {}

  // Adds the cells of one source of an input.
  Result<void> add(Input& input, std::span<const HeldCell> cells, Merged& merged) {
    auto fresh = select_source(input.database, kind_, cells.front().source);
    if (!fresh) return fresh.error();
    std::vector<std::size_t> places;
    for (const HeldCell& held : cells) {
      if (auto read = select_cell_into(input.database, held.id, *fresh); !read) return read;
      if (file_.holds(held.place)) {
        if (auto same = check_last(input, held.place, *fresh); !same) return same;
        drop_last_cell(*fresh);
        ++merged.shared;
        continue;
      }
      places.push_back(held.place.cell);
    }
    merged.added += places.size();
    return file_.add(cells.front().place.source, places, *fresh);
  }

 private:
  // Whether the last cell of the input's source has the results that the output holds of it.
  Result<void> check_last(const Input& input, const SweepPlace& place, const SweepResult& source) {
    // Times are never the same twice; those that are there stay.
    if (kind_ == SweepKind::speed) return {};
    const auto own = file_.at(place);
    if (!own) return own.error();
    if (bytes_of_source(*own) != bytes_of_source(source)) {
      return differs(input.path, source_words(source));
    }
    const std::size_t last = cells_in(source) - 1;
    if (bytes_of_cell(*own, 0) == bytes_of_cell(source, last)) return {};
    return differs(input.path, cell_words(source, last));
  }

  SweepFile& file_;
  SweepKind kind_;
};

Result<Merged> merge_into(SweepFile& file,
                          std::vector<Input>& inputs,
                          const MergeProgress& progress) {
  Merged merged;
  Merge merge(file, inputs.front().run.sweep.kind);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto cells = held_cells(inputs[i].database, inputs[i].run);
    if (!cells) return cells.error();
    for (std::size_t first = 0; first < cells->size();) {
      std::size_t last = first;
      while (last < cells->size() && (*cells)[last].place.source == (*cells)[first].place.source) {
        ++last;
      }
      const auto of_source = std::span(*cells).subspan(first, last - first);
      if (auto added = merge.add(inputs[i], of_source, merged); !added) return added.error();
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
  merged.times = inputs.front().run.sweep.kind == SweepKind::speed;
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
  auto merged = merge_into(*file, opened, progress);
  if (!merged) file->discard();
  return merged;
}

}  // namespace kv::reports

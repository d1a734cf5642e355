#include "kvcheck/reports/tables/closed_loop_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {
namespace {

// Perplexities span three powers of ten in one table, so the number of decimals depends on the
// size.
std::string rounded(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.3f" : "%.1f", value);
  return text.data();
}

Entry share_entry(const RecallBin& bin) {
  if (bin.asked == 0) return {"-", ""};
  return {rounded(bin.share()), shortest(bin.share())};
}

// The columns with which every table begins, and their entries.
std::vector<Column> spec_columns() {
  return {{.title = "policy", .name = "policy"},
          {.title = "", .name = "spec", .exact_only = true},
          {.title = "budget", .name = "budget", .number = true}};
}

std::vector<Entry> spec_entries(const ClosedLoopCell& cell, const std::string& label) {
  const Spec& spec = cell.cell.spec;
  const std::string budget = std::to_string(spec.budget);
  return {{label, label},
          {"", spec.canonical()},
          spec.bounded() ? Entry{budget, budget} : Entry{"-", ""}};
}

std::string counted(std::size_t count, const std::string& noun) {
  return with_commas(count) + " " + noun + (count == 1 ? "" : "s");
}

double nats_of(const ClosedLoopCell& cell) {
  double nats = 0;
  for (const LossPoint& point : cell.series) nats += point.nats;
  return nats;
}

bool has_dense_after(const ClosedLoopResult& result) {
  return std::ranges::any_of(result.cells, [&](const ClosedLoopCell& cell) {
    return !std::isnan(dense_perplexity_after(result, cell));
  });
}

std::vector<Segment> segments_in(const ClosedLoopResult& result) {
  if (result.cells.empty()) return {};
  return segments_of(result.cells.front().series, result.segment);
}

bool evicts_in(const ClosedLoopResult& result) {
  return std::ranges::any_of(result.cells,
                             [](const ClosedLoopCell& cell) { return cell.targets_after > 0; });
}

// What the policy's predictions from its first loss on are, and what they compare with.
void add_columns_after(Table& table, bool dense) {
  table.columns.push_back({.title = "once evicting", .name = "perplexity_after", .number = true});
  if (dense) {
    table.columns.push_back(
        {.title = "dense there", .name = "dense_perplexity_after", .number = true});
  }
  table.columns.push_back({.title = "targets", .name = "targets_after", .number = true});
}

void add_entries_after(std::vector<Entry>& row,
                       const ClosedLoopResult& result,
                       const ClosedLoopCell& cell,
                       bool dense) {
  row.push_back(perplexity_entry(cell.perplexity_after()));
  if (dense) row.push_back(perplexity_entry(dense_perplexity_after(result, cell)));
  const std::string exact = std::to_string(cell.targets_after);
  row.push_back({cell.targets_after == 0 ? "-" : with_commas(cell.targets_after), exact});
}

}  // namespace

std::vector<std::string> names_of_cells(const ClosedLoopResult& result) {
  std::vector<Spec> specs;
  for (const ClosedLoopCell& cell : result.cells) specs.push_back(cell.cell.spec);
  return names_of(specs);
}

Entry perplexity_entry(double value) {
  if (std::isnan(value)) return {"-", ""};
  return {rounded(value), shortest(value)};
}

RecallBin far_recall(const ClosedLoopCell& cell) {
  RecallBin sum;
  for (const RecallBin& bin : cell.recall) {
    if (bin.first < far_back) continue;
    sum.asked += bin.asked;
    sum.right += bin.right;
  }
  return sum;
}

double dense_perplexity_after(const ClosedLoopResult& result, const ClosedLoopCell& cell) {
  if (cell.targets_after == 0) return not_measured;
  const std::string storage = stored_as(cell.cell.spec, result.storage);
  const auto is_reference = [&](const ClosedLoopCell& other) {
    const Spec& spec = other.cell.spec;
    return !spec.bounded() && other.targets_after == 0 && other.targets() == cell.targets() &&
           stored_as(spec, result.storage) == storage;
  };
  const auto dense = std::ranges::find_if(result.cells, is_reference);
  if (dense == result.cells.end()) return not_measured;
  const double before = nats_of(cell) - cell.nats_after;
  return perplexity_of(std::max(nats_of(*dense) - before, 0.0), cell.targets_after);
}

Table perplexity_table(const ClosedLoopResult& result) {
  Table table{.columns = spec_columns(), .rows = {}};
  table.columns.push_back({.title = "", .name = "seed", .number = true, .exact_only = true});
  table.columns.push_back({.title = "perplexity", .name = "perplexity", .number = true});
  const std::vector<Segment> segments = segments_in(result);
  for (const Segment& segment : segments) {
    const std::string range = std::to_string(segment.first) + "-" + std::to_string(segment.last);
    // A reader need not see all targets twice.
    table.columns.push_back({.title = range,
                             .name = "perplexity_" + range,
                             .number = true,
                             .exact_only = segments.size() == 1});
  }
  const bool asks = result.asks();
  if (asks) table.columns.push_back({.title = "recall", .name = "recall", .number = true});
  table.columns.push_back({.title = "KiB", .name = "kv_kib", .number = true});
  const bool evicts = evicts_in(result);
  const bool dense = evicts && has_dense_after(result);
  if (evicts) add_columns_after(table, dense);
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const ClosedLoopCell& cell = result.cells[i];
    std::vector<Entry> row = spec_entries(cell, names[i]);
    row.push_back({"", std::to_string(cell.cell.seed)});
    row.push_back(perplexity_entry(cell.perplexity()));
    for (const Segment& segment : segments_of(cell.series, result.segment)) {
      row.push_back(perplexity_entry(segment.perplexity()));
    }
    if (asks) row.push_back(share_entry(cell.recall_in_all()));
    const std::string kib = std::to_string((cell.kv_bytes + 1023) / 1024);
    row.push_back({kib, kib});
    if (evicts) add_entries_after(row, result, cell, dense);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string perplexity_title(const ClosedLoopResult& result) {
  return segments_in(result).size() > 1 ? "perplexity, also over runs of targets" : "perplexity";
}

std::string perplexity_words(const ClosedLoopResult& result) {
  if (!evicts_in(result)) return "";
  const std::string beginning =
      "Once evicting is the perplexity over the targets from the policy's first loss on. ";
  const std::string others =
      "Where the first loss is depends on the budget and on when a cache trims, so compare rows "
      "with as many "
      "targets";
  if (!has_dense_after(result)) return beginning + others + ".";
  return beginning + "Dense there is dense's over the same targets. " + others +
         ", or each row with dense there.";
}

Table recall_table(const ClosedLoopResult& result) {
  Table table{.columns = spec_columns(), .rows = {}};
  if (!result.asks()) return table;
  std::vector<std::size_t> shown;  // every policy is asked the same questions
  const std::vector<RecallBin>& bins = result.cells.front().recall;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].asked == 0) continue;
    shown.push_back(i);
    table.columns.push_back({.title = bins[i].label() + " (" + std::to_string(bins[i].asked) + ")",
                             .name = "recall_" + bins[i].label(),
                             .number = true});
  }
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    std::vector<Entry> row = spec_entries(result.cells[i], names[i]);
    for (const std::size_t bin : shown) row.push_back(share_entry(result.cells[i].recall[bin]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string text_of(const ClosedLoopResult& result) {
  const std::string name = std::filesystem::path(result.text).filename().string();
  const std::string size = name + ", " + counted(result.tokens, "token") + " in ";
  if (result.window == 0) return size + counted(result.streams, "stream");
  return size + counted(result.streams, "window") + " of at most " + with_commas(result.window);
}

namespace {

// How weights, keys and values are stored, if not as in the file of the model.
std::string notes_of(const ClosedLoopResult& result) {
  std::vector<std::string> notes;
  const std::size_t note = result.architecture.find("; ");
  if (note != std::string::npos) notes.push_back(result.architecture.substr(note + 2));
  if (result.storage != "f32") notes.push_back("keys and values as " + result.storage);
  return notes.empty() ? "" : " (" + join(notes, "; ") + ")";
}

}  // namespace

std::string closed_loop_line(const ClosedLoopResult& result) {
  return result.model + notes_of(result) + " on " + text_of(result) +
         "; closed loop: the model sees only what the policy kept\n";
}

}  // namespace kv::reports

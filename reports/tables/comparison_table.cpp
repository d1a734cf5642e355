#include "kvcheck/reports/tables/comparison_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/compared_runs.h"
#include "kvcheck/reports/tables/summary_table.h"

namespace kv::reports {
namespace {

// Distances of recall, in tokens, as columns.
constexpr std::array<std::pair<std::size_t, std::size_t>, 4> distances = {
    {{1, 32}, {32, 64}, {64, 128}, {128, 65536}}};

// The row of a spec before it is text.
struct Contestant {
  const SpecSummary* open = nullptr;
  std::vector<const ClosedLoopCell*> closed{};  // one per seed
  std::optional<TimedCell> timed{};             // of the longest prompt
  std::vector<double> heads{};                  // retained mass, seeds averaged
  double moved = 0;                             // rows, mean over seeds
  double next_p = not_measured;                 // against the next row
};

std::vector<double> heads_of(const ReplayResult& result, const SpecSummary& summary) {
  std::vector<double> heads(result.cells[summary.cells.front()].heads.size());
  for (const std::size_t cell : summary.cells) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      heads[i] += result.cells[cell].heads[i].metrics.retained_mass /
                  static_cast<double>(summary.cells.size());
    }
  }
  return heads;
}

std::vector<Contestant> contestants_of(const ComparedRuns& runs,
                                       const std::vector<SpecSummary>& summaries) {
  std::vector<Contestant> all;
  for (const SpecSummary& summary : summaries) {
    Contestant one{.open = &summary, .closed = closed_cells_of(*runs.closed, summary.spec)};
    if (one.closed.empty()) continue;
    one.timed = longest_timed(runs.timed, summary.spec);
    one.heads = heads_of(*runs.open, summary);
    for (const std::size_t cell : summary.cells) {
      one.moved += static_cast<double>(sizes_of(runs.open->cells[cell]).moved) /
                   static_cast<double>(summary.cells.size());
    }
    all.push_back(std::move(one));
  }
  std::ranges::stable_sort(all, std::less<>(), [](const Contestant& one) {
    const double mass = one.open->after.retained_mass.mean;
    return std::tuple(one.open->spec.budget, stores_more(*one.open),
                      std::isfinite(mass) ? -mass : 2.0);
  });
  return all;
}

// Compares each row with the next one of the same budget, unless only one of the two stores more.
void compare_neighbours(std::vector<Contestant>& all) {
  std::vector<double> values(all.size(), not_measured);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const SpecSummary& one = *all[i].open;
    const SpecSummary& next = *all[i + 1].open;
    const bool same = one.spec.budget == next.spec.budget && stores_more(one) == stores_more(next);
    const double sums = std::accumulate(all[i].heads.begin(), all[i].heads.end(), 0.0) +
                        std::accumulate(all[i + 1].heads.begin(), all[i + 1].heads.end(), 0.0);
    // Where only means over heads are kept, there are no pairs.
    if (same && !all[i].heads.empty() && std::isfinite(sums))
      values[i] = paired_flips(all[i].heads, all[i + 1].heads);
  }
  const std::vector<double> score = holm(values);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].next_p = score[i];
}

Entry p_of(double p) {
  if (p < 1e-3) return {"< 0.001", shortest(p)};
  return number_entry(p, p < 0.1 ? 3 : 2);
}

// The perplexity over all seeds: exp of the mean of the logarithms.
double perplexity_of(const Contestant& one) {
  double logs = 0;
  for (const ClosedLoopCell* cell : one.closed) logs += std::log(cell->perplexity());
  return std::exp(logs / static_cast<double>(one.closed.size()));
}

RecallBin recall_of(const Contestant& one, std::size_t first, std::size_t last) {
  RecallBin sum{.first = first, .last = last};
  for (const ClosedLoopCell* cell : one.closed) {
    for (const RecallBin& bin : cell->recall) {
      if (bin.first < first || bin.last > last) continue;
      sum.asked += bin.asked;
      sum.right += bin.right;
    }
  }
  return sum;
}

// The distances at which at least one question is asked.
std::vector<std::pair<std::size_t, std::size_t>> asked_distances(const Contestant& one) {
  std::vector<std::pair<std::size_t, std::size_t>> asked;
  for (const auto& [first, last] : distances) {
    if (recall_of(one, first, last).asked > 0) asked.emplace_back(first, last);
  }
  return asked;
}

std::vector<Column> columns(const ComparedRuns& runs, const Contestant& any) {
  std::vector<Column> all = {
      {.title = "policy", .name = "policy"},
      {.title = "", .name = "spec", .exact_only = true},
      {.title = "budget", .name = "budget", .number = true},
      {.title = "stored", .name = "stored_peak", .number = true},
      {.title = "retained once evicting", .name = "retained_mass_after", .number = true},
      {.title = "of optimum", .name = "optimum_share_after", .number = true},
      {.title = "", .name = "retained_mass", .exact_only = true},
      {.title = "", .name = "optimum_share", .exact_only = true},
      {.title = "p", .name = "p_next", .number = true},
      {.title = "output error", .name = "output_error_after", .number = true},
      {.title = "", .name = "output_error", .exact_only = true},
      {.title = "perplexity", .name = "perplexity", .number = true}};
  for (const auto& [first, last] : asked_distances(any)) {
    const bool open = last == distances.back().second;
    const std::string span = std::to_string(first) + (open ? "+" : "-" + std::to_string(last));
    all.push_back({.title = "recall " + span,
                   .name = "recall_" + std::to_string(first) + "_" + std::to_string(last),
                   .number = true});
  }
  all.push_back({.title = "KiB", .name = "kv_kib", .number = true});
  all.push_back({.title = "rows moved", .name = "rows_moved", .number = true});
  if (runs.timed != nullptr) {
    all.push_back({.title = "attention \xC2\xB5s", .name = "attention_us", .number = true});
  }
  all.push_back({.title = "", .name = "stores_more", .exact_only = true});
  return all;
}

std::vector<Entry> row_of(const ComparedRuns& runs, const Contestant& one) {
  const SpecSummary& open = *one.open;
  const std::string budget = std::to_string(open.spec.budget);
  std::vector<Entry> row = {{open.name, open.name},
                            {"", open.canonical},
                            open.spec.bounded() ? Entry{budget, budget} : Entry{"-", ""},
                            number_entry(open.stored_peak, 0),
                            number_entry(open.after.retained_mass.mean, 4),
                            optimum_share_entry(open),
                            number_entry(open.retained_mass.mean, 4),
                            number_entry(open.optimum_share, 4),
                            p_of(one.next_p),
                            number_entry(open.after.output_error.mean, 4),
                            number_entry(open.output_error.mean, 4),
                            perplexity_entry(perplexity_of(one))};
  for (const auto& [first, last] : asked_distances(one)) {
    row.push_back(number_entry(recall_of(one, first, last).share(), 3));
  }
  std::size_t bytes = 0;
  for (const ClosedLoopCell* cell : one.closed) bytes = std::max(bytes, cell->kv_bytes);
  row.push_back(number_entry(static_cast<double>(bytes) / 1024, 1));
  row.push_back(number_entry(one.moved, 0));
  if (runs.timed != nullptr) {
    row.push_back(one.timed ? number_entry(1e6 * one.timed->attention_s, 1) : Entry{"-", ""});
  }
  row.push_back(stores_more_entry(open));
  return row;
}

}  // namespace

Table comparison_table(const ComparedRuns& runs) {
  const std::vector<SpecSummary> summaries = summarise(*runs.open);
  std::vector<Contestant> all = contestants_of(runs, summaries);
  compare_neighbours(all);
  Table table{.columns = columns(runs, all.front()), .rows = {}};
  for (const Contestant& one : all) table.rows.push_back(row_of(runs, one));
  return table;
}

std::string comparison_words(const ComparedRuns& runs) {
  std::string words =
      "By budget, then by retained mass. Stored (the most rows of a unit), mass, its share of the "
      "optimum, p, output error and rows moved (what contiguous storage would have copied) are of "
      "the replay, the means over the queries from the first one on that cannot see every token, "
      "of " +
      short_name(runs.open->trace) +
      "; perplexity, recall by tokens since the fact was stated, and " +
      "KiB of keys and values are of " + runs.closed->model + " on " + text_of(*runs.closed) +
      ". Both are of one model and one text, so no row has an interval. p: the mass against the "
      "next row's, in pairs over the heads of this model by random signs, corrected for all pairs "
      "(Holm); it says nothing of other texts.";
  if (runs.timed == nullptr) return words;
  const std::size_t repeated = timed_runs(*runs.timed);
  return words + " \xC2\xB5s: attention of one token after the longest prompt, bookkeeping " +
         "included, on this machine" +
         (repeated < 2 ? "." : "; the median of " + std::to_string(repeated) + " runs.");
}

}  // namespace kv::reports

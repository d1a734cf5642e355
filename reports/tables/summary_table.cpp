#include "kvcheck/reports/tables/summary_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/tables/bounds_table.h"

namespace kv::reports {
namespace {

constexpr const char* absent = "-";

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return absent;
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

std::string exact(double value) {
  return std::isfinite(value) ? shortest(value) : "";
}

Entry budget_of(const Spec& spec) {
  if (!spec.bounded()) return {absent, ""};
  return {spec.budget_text(), std::to_string(spec.budget)};
}

std::vector<Column> columns(bool oracle, bool kl) {
  return {
      {.title = "policy", .name = "policy"},
      {.title = "", .name = "spec", .exact_only = true},
      {.title = "budget", .name = "budget", .number = true},
      {.title = "", .name = "seeds", .number = true, .exact_only = true},
      {.title = "retained once evicting", .name = "retained_mass_after", .number = true},
      {.title = "of optimum", .name = "optimum_share_after", .number = true, .exact_only = !oracle},
      {.title = "KL, nats", .name = "kl_to_dense_after", .number = true, .exact_only = !kl},
      {.title = "top-k", .name = "topk_overlap_after", .number = true},
      {.title = "output error", .name = "output_error_after", .number = true},
      {.title = "retained, all queries", .name = "retained_mass", .number = true},
      {.title = "", .name = "optimum_share", .number = true, .exact_only = true},
      {.title = "", .name = "retained_mass_low", .number = true, .exact_only = true},
      {.title = "", .name = "retained_mass_high", .number = true, .exact_only = true},
      {.title = "", .name = "retained_mass_seeds_interval", .number = true, .exact_only = true},
      {.title = "", .name = "optimum", .number = true, .exact_only = true},
      {.title = "", .name = "per_step_bound", .number = true, .exact_only = true},
      {.title = "", .name = "greedy_oracle", .number = true, .exact_only = true},
      {.title = "", .name = "kl_to_dense", .number = true, .exact_only = true},
      {.title = "", .name = "topk_overlap", .number = true, .exact_only = true},
      {.title = "", .name = "output_error", .number = true, .exact_only = true},
      {.title = "visible", .name = "visible_mean", .number = true},
      {.title = "stored peak", .name = "stored_peak", .number = true},
      {.title = "evictions", .name = "evictions", .number = true},
      {.title = "KiB", .name = "kib_peak", .number = true},
      {.title = "", .name = "first_loss", .number = true, .exact_only = true},
      {.title = "", .name = "optimum_after", .number = true, .exact_only = true},
      {.title = "", .name = "stores_more", .exact_only = true}};
}

// KL to dense where it says something that retained mass does not.
Entry kl_entry(const SpecSummary& s) {
  Entry entry = number_entry(s.after.kl_to_dense.mean, 4);
  if (!kl_is_own_number(s.spec)) entry.text = absent;
  return entry;
}

Entry first_loss_entry(const SpecSummary& s) {
  if (!std::isfinite(s.after.retained_mass.mean)) return {absent, ""};
  const std::string text = std::to_string(s.after.first);
  return {text, text};
}

std::vector<Entry> row_of(const SpecSummary& s) {
  const std::string seeds = std::to_string(s.cells.size());
  return {{s.name, s.name},
          {"", s.canonical},
          budget_of(s.spec),
          {seeds, seeds},
          number_entry(s.after.retained_mass.mean, 4),
          optimum_share_entry(s),
          kl_entry(s),
          number_entry(s.after.topk_overlap.mean, 4),
          number_entry(s.after.output_error.mean, 4),
          number_entry(s.retained_mass.mean, 4),
          number_entry(s.optimum_share, 4),
          number_entry(s.retained_mass.low, 4),
          number_entry(s.retained_mass.high, 4),
          number_entry(s.retained_mass_seeds.half_width(), 4),
          number_entry(s.oracle.optimum, 4),
          number_entry(s.oracle.per_step, 4),
          number_entry(s.oracle.greedy, 4),
          number_entry(s.kl_to_dense.mean, 4),
          number_entry(s.topk_overlap.mean, 4),
          number_entry(s.output_error.mean, 4),
          number_entry(s.visible_mean, 1),
          number_entry(s.stored_peak, 0),
          number_entry(s.evictions, 0),
          number_entry(s.bytes_peak / 1024, 1),
          first_loss_entry(s),
          number_entry(s.after.oracle.optimum, 4),
          stores_more_entry(s)};
}

// The tables that a reader sees: caches of the budget's size, and larger ones.
std::string both_tables(const Table& table, std::size_t width) {
  const Table within = rows_that_store(table, false);
  const Table more = rows_that_store(table, true);
  std::string out = within.rows.empty() ? "" : to_text(within, width);
  if (more.rows.empty()) return out;
  if (!within.rows.empty()) out += "\n";
  return out + "These store more than their budget, or have none:\n" + to_text(more, width);
}

}  // namespace

Entry number_entry(double value, int digits) {
  return {fixed(value, digits), exact(value)};
}

Entry stores_more_entry(const SpecSummary& summary) {
  const std::string text = stores_more(summary) ? "yes" : "no";
  return {text, text};
}

Entry optimum_share_entry(const SpecSummary& summary) {
  const AfterLossSummary& after = summary.after;
  if (std::isfinite(after.optimum_share)) return number_entry(after.optimum_share, 4);
  if (!std::isfinite(after.least_share)) return {absent, ""};
  return {"\xE2\x89\xA5 " + fixed(after.least_share, 4), ""};
}

namespace {

// What a table has beside the number whose column has that name.
struct HalfWidthColumn {
  std::string_view beside;
  double HeadMetrics::*metric;
};

constexpr std::array half_width_columns = {
    HalfWidthColumn{"retained_mass_after", &HeadMetrics::retained_mass},
    HalfWidthColumn{"kl_to_dense_after", &HeadMetrics::kl_to_dense},
    HalfWidthColumn{"topk_overlap_after", &HeadMetrics::topk_overlap},
    HalfWidthColumn{"output_error_after", &HeadMetrics::output_error}};

// Half the widths of the intervals that follow from which queries are recorded.
void add_half_widths(Table& table, const std::vector<SpecSummary>& summaries) {
  for (const auto& [beside, metric] : half_width_columns) {
    const auto column = std::ranges::find(table.columns, beside, &Column::name);
    KV_CHECK(column != table.columns.end());
    const std::ptrdiff_t at = column - table.columns.begin() + 1;
    table.columns.insert(column + 1, {.title = "\xC2\xB1",
                                      .name = std::string(beside) + "_half_width",
                                      .number = true,
                                      .exact_only = column->exact_only});
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      table.rows[i].insert(table.rows[i].begin() + at,
                           number_entry(summaries[i].after.half_widths.*metric, 4));
    }
  }
}

// The names of the specs whose policies decided by recorded queries only.
std::string decided_on_sample(const ReplayResult& result) {
  std::vector<std::string> names;
  for (const SpecSummary& one : summarise(result)) {
    const bool known = std::ranges::find(names, one.name) != names.end();
    if (one.decided_on_sample && !known) names.push_back(one.name);
  }
  return join(names, ", ");
}

}  // namespace

Table summary_table(const ReplayResult& result) {
  std::vector<SpecSummary> summaries = summarise(result);
  sort_for_tables(summaries);
  const bool kl = std::ranges::any_of(
      summaries, [](const SpecSummary& one) { return kl_is_own_number(one.spec); });
  Table table{.columns = columns(has_bounds(result), kl), .rows = {}};
  for (const SpecSummary& summary : summaries) table.rows.push_back(row_of(summary));
  if (samples_queries(result.trace)) add_half_widths(table, summaries);
  return table;
}

Table rows_that_store(const Table& table, bool more) {
  const auto named = std::ranges::find(table.columns, "stores_more", &Column::name);
  KV_CHECK(named != table.columns.end());
  const auto at = static_cast<std::size_t>(named - table.columns.begin());
  Table some{.columns = table.columns, .rows = {}};
  std::ranges::copy_if(table.rows, std::back_inserter(some.rows),
                       [&](const auto& row) { return (row[at].exact == "yes") == more; });
  return some;
}

std::string summary_markdown(const Table& table) {
  const Table within = rows_that_store(table, false);
  const Table more = rows_that_store(table, true);
  std::string out = within.rows.empty() ? "" : to_markdown(within) + "\n";
  if (more.rows.empty()) return out;
  return out + "These store more than their budget, or have none:\n\n" + to_markdown(more);
}

Table specs_table(const ReplayResult& result) {
  Table table{.columns = {{.title = "policy", .name = "policy"},
                          {.title = "budget", .name = "budget", .number = true},
                          {.title = "seeds", .name = "seeds", .number = true},
                          {.title = "full spec", .name = "spec"}},
              .rows = {}};
  for (const SpecSummary& s : summarise(result)) {
    const std::string seeds = std::to_string(s.cells.size());
    table.rows.push_back(
        {{s.name, s.name}, budget_of(s.spec), {seeds, seeds}, {s.canonical, s.canonical}});
  }
  return table;
}

std::string sample_words(const ReplayResult& result) {
  const TraceInfo& trace = result.trace;
  if (trace.queries.empty()) return "";
  const std::string some = std::to_string(trace.queries.size()) + " of " +
                           std::to_string(trace.tokens) + " queries are recorded";
  std::string words =
      !samples_queries(trace)
          ? some +
                ". They do not stand for the others: the numbers are means over these alone, and "
                "have no interval."
          : some + " (" + text_of(*trace.query_design) +
                "), and stand for all. \xC2\xB1 is half the 95 % interval that follows from this "
                "sampling; it says nothing of other texts.";
  if (samples_queries(trace) && trace.query_design->every > 0) {
    words += " Of queries at equal distances it is an approximation.";
  }
  const std::string names = decided_on_sample(result);
  if (names.empty()) return words;
  return words +
         " These policies look at attention or queries, and had only those of the recorded "
         "queries to decide by, so that they keep other tokens than with all; no interval "
         "covers that: " +
         names + ".";
}

std::string summary_text(const ReplayResult& result, std::size_t width) {
  return both_tables(summary_table(result), width) +
         "Means over query heads, and over the queries from the first one on that cannot see every "
         "token (\"all queries\" counts those before it too); of one text, so no interval" +
         (samples_queries(result.trace) ? " over texts" : "") + ".\n" +
         (result.trace.queries.empty() ? "" : sample_words(result) + "\n") +
         bounds_text(result, width);
}

}  // namespace kv::reports

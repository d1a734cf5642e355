#include "kvcheck/reports/tables/loops_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"

namespace kv::reports {
namespace {

std::string three_places(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

Entry entry_of(double value) {
  if (std::isnan(value)) return {"-", ""};
  return {three_places(value), shortest(value)};
}

// Retained mass and minus perplexity of the same cells, so that more is better in both.
struct Pairs {
  std::vector<double> mass{};
  std::vector<double> gain{};

  void add(double retained_mass, double perplexity) {
    mass.push_back(retained_mass);
    gain.push_back(-perplexity);
  }

  [[nodiscard]] std::string words() const {
    const double rho = rank_correlation(mass, gain);
    return std::isnan(rho) ? "none" : three_places(rho);
  }
};

bool says_where_loss_begins(const ClosedLoopResult& result) {
  return std::ranges::any_of(result.cells,
                             [](const ClosedLoopCell& cell) { return cell.queries_after > 0; });
}

}  // namespace

bool has_open_loop(const ClosedLoopResult& result) {
  return !result.cells.empty() && !std::isnan(result.cells.front().retained_mass);
}

Table loops_table(const ClosedLoopResult& result) {
  Table table{.columns = {{.title = "policy", .name = "policy"},
                          {.title = "", .name = "spec", .exact_only = true},
                          {.title = "budget", .name = "budget", .number = true},
                          {.title = "retained mass", .name = "retained_mass", .number = true},
                          {.title = "perplexity", .name = "perplexity", .number = true}},
              .rows = {}};
  const bool asks = result.asks();
  if (asks) table.columns.push_back({.title = "recall", .name = "recall", .number = true});
  const bool after = says_where_loss_begins(result);
  const auto add_column = [&](const char* title, const char* name) {
    if (after) table.columns.push_back({.title = title, .name = name, .number = true});
  };
  add_column("retained once evicting", "retained_mass_after");
  add_column("perplexity once evicting", "perplexity_after");
  const std::vector<std::string> names = names_of_cells(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const ClosedLoopCell& cell = result.cells[i];
    const Spec& spec = cell.cell.spec;
    const std::string budget = spec.bounded() ? std::to_string(spec.budget) : "";
    table.rows.push_back({{names[i], names[i]},
                          {"", spec.canonical()},
                          {spec.bounded() ? budget : "-", budget},
                          entry_of(cell.retained_mass),
                          entry_of(cell.perplexity())});
    std::vector<Entry>& row = table.rows.back();
    if (asks) row.push_back(entry_of(cell.recall_in_all().share()));
    if (!after) continue;
    row.push_back(entry_of(cell.retained_mass_after(result.tokens)));
    row.push_back(entry_of(cell.perplexity_after()));
  }
  return table;
}

std::string loops_words(const ClosedLoopResult& result) {
  const bool after = says_where_loss_begins(result);
  Pairs all;
  std::map<std::uint32_t, Pairs> by_budget;
  for (const ClosedLoopCell& cell : result.cells) {
    const double mass = after ? cell.retained_mass_after(result.tokens) : cell.retained_mass;
    const double perplexity = after ? cell.perplexity_after() : cell.perplexity();
    if (std::isnan(mass) || std::isnan(perplexity)) continue;
    all.add(mass, perplexity);
    // As in all rankings, without those that store more.
    if (!stores_more(cell.cell.spec)) by_budget[cell.cell.spec.budget].add(mass, perplexity);
  }
  std::vector<std::string> parts;
  // Once evicting, specs of other budgets are measured over other queries and targets.
  if (!after) parts.push_back(all.words() + " over all " + std::to_string(all.mass.size()));
  for (const auto& [budget, pairs] : by_budget) {
    if (pairs.mass.size() < 3) continue;
    parts.push_back(pairs.words() + " over the " + std::to_string(pairs.mass.size()) +
                    " that store at most " + std::to_string(budget));
  }
  const std::string once = after ? " once evicting" : "";
  const std::string which = "Spearman's rank correlation of retained mass" + once +
                            " (a replay of the dense run: open loop) and perplexity" + once +
                            " (closed loop)";
  if (parts.empty()) return which + " needs three specs of one budget that store no more than it.";
  return which + ", 1 if more mass always means less perplexity: " + join(parts, ", ") + ".";
}

}  // namespace kv::reports

#include "kvcheck/reports/tables/bounds_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/summary_table.h"

namespace kv::reports {
namespace {

std::string four_digits(double value) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.4f", value);
  return {text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

Entry number(double value) {
  return {four_digits(value), std::isfinite(value) ? shortest(value) : ""};
}

// The settings of a spec that decide, together with the budget, how many rows its queries can see.
std::string setting_of(const Spec& spec) {
  std::string text = "unit=" + std::string(name_of(spec.unit));
  if (spec.selects()) return text + ";visibility=" + spec.visibility_text();
  if (spec.budgets.shared()) text += ";budgets=" + spec.budgets.text();
  if (spec.visibility == Visibility::window) return text + ";visibility=window";
  text += ";timing=" + std::string(name_of(spec.timing));
  if (spec.timing == Timing::lazy) text += ":" + std::to_string(spec.slack);
  if (spec.phases.compress != Phases::Compress::always) text += ";compress=" + spec.phases.text();
  if (spec.chunk != 1) text += ";chunk=" + std::to_string(spec.chunk);
  return text;
}

// Specs with the same bounds.
struct Bounded {
  std::string setting;
  std::vector<const SpecSummary*> specs;
};

// How many rows a query may see under the spec.
std::uint32_t rows_of(const Spec& spec) {
  return spec.selects() ? spec.top_pages.attended : spec.budget;
}

bool same_bounds(const SpecSummary& a, const SpecSummary& b) {
  const bool neither = std::isnan(a.oracle.greedy) && std::isnan(b.oracle.greedy);
  return rows_of(a.spec) == rows_of(b.spec) && a.oracle.per_step == b.oracle.per_step &&
         (neither || a.oracle.greedy == b.oracle.greedy);
}

std::vector<Bounded> bounded_groups(const std::vector<SpecSummary>& summaries) {
  std::vector<Bounded> groups;
  for (const SpecSummary& summary : summaries) {
    const bool bounds = summary.spec.bounded() || summary.spec.selects();
    if (!bounds || !std::isfinite(summary.oracle.per_step)) continue;
    const std::string setting = setting_of(summary.spec);
    const auto found = std::ranges::find_if(groups, [&](const Bounded& group) {
      return group.setting == setting && same_bounds(*group.specs.front(), summary);
    });
    if (found == groups.end()) {
      groups.push_back({setting, {&summary}});
    } else {
      found->specs.push_back(&summary);
    }
  }
  // Ordered by setting, as the settings first appear, then by budget.
  std::vector<std::string> settings;
  for (const Bounded& group : groups) settings.push_back(group.setting);
  std::ranges::stable_sort(groups, {}, [&](const Bounded& group) {
    return std::pair(std::ranges::find(settings, group.setting) - settings.begin(),
                     rows_of(group.specs.front()->spec));
  });
  return groups;
}

const SpecSummary& best_of(const Bounded& group) {
  const auto mass = [](const SpecSummary* s) {
    const double after = s->after.retained_mass.mean;
    return std::isfinite(after) ? after : -1;
  };
  return **std::ranges::max_element(group.specs, {}, mass);
}

// A column of means over all queries, for the files.
Column of_all(const char* name) {
  return {.title = "", .name = name, .number = true, .exact_only = true};
}

std::vector<std::string> sentences(const ReplayResult& result) {
  std::vector<std::string> out = {
      "Optimum: no cache that sees as many rows, and to which evicted tokens never return, "
      "retains more.",
      "Per step: each query sees its heaviest keys, evicted or not; never below the optimum.",
      "Greedy: a cache that knows the future and evicts the tokens with the least future mass; "
      "not a bound. All are means over the queries from the first one on that cannot see every "
      "token."};
  const auto any = [&](auto of) { return std::ranges::any_of(result.cells, of); };
  if (any([](const CellResult& cell) { return cell.cell.spec.selects(); })) {
    out.emplace_back(
        "If queries select pages, nothing is evicted and there is no optimum: a share of it "
        "(\u2265) is that of the per-step bound.");
  }
  if (any([](const CellResult& cell) { return cell.cell.spec.budgets.shared(); })) {
    out.emplace_back(
        "If heads share a budget, each is bounded with the largest part that the others may leave "
        "it. All heads cannot have that at once, so a share of it (\u2265) is at least that.");
  }
  if (any([](const CellResult& cell) {
        const Spec& spec = cell.cell.spec;
        return spec.bounded() && !cell.bounds.empty() && !std::isfinite(oracle_of(cell).optimum);
      })) {
    out.emplace_back(
        "The trace is longer than --oracle-tokens, so its optimum was not computed: a share of it "
        "(\u2265) is at least that of the per-step bound.");
  }
  return out;
}

}  // namespace

bool has_bounds(const ReplayResult& result) {
  return std::ranges::any_of(result.cells,
                             [](const CellResult& cell) { return !cell.bounds.empty(); });
}

Table bounds_table(const ReplayResult& result) {
  Table table{
      .columns = {{.title = "cache", .name = "setting"},
                  {.title = "budget", .name = "budget", .number = true},
                  {.title = "optimum", .name = "optimum_after", .number = true},
                  {.title = "per step", .name = "per_step_bound_after", .number = true},
                  {.title = "greedy", .name = "greedy_oracle_after", .number = true},
                  {.title = "best policy", .name = "best_policy"},
                  {.title = "retains", .name = "best_retained_mass_after", .number = true},
                  {.title = "of optimum", .name = "best_optimum_share_after", .number = true},
                  of_all("optimum"),
                  of_all("per_step_bound"),
                  of_all("greedy_oracle"),
                  of_all("best_retained_mass"),
                  of_all("best_optimum_share")},
      .rows = {}};
  const std::vector<SpecSummary> summaries = summarise(result);
  for (const Bounded& group : bounded_groups(summaries)) {
    const SpecSummary& best = best_of(group);
    const std::string budget = std::to_string(rows_of(best.spec));
    table.rows.push_back({{group.setting, group.setting},
                          {budget, budget},
                          number(best.after.oracle.optimum),
                          number(best.after.oracle.per_step),
                          number(best.after.oracle.greedy),
                          {best.name, best.name},
                          number(best.after.retained_mass.mean),
                          optimum_share_entry(best),
                          number(best.oracle.optimum),
                          number(best.oracle.per_step),
                          number(best.oracle.greedy),
                          number(best.retained_mass.mean),
                          number(best.optimum_share)});
  }
  return table;
}

std::string bounds_words(const ReplayResult& result) {
  return join(sentences(result), " ");
}

std::string bounds_text(const ReplayResult& result, std::size_t width) {
  if (!has_bounds(result)) return "";
  const Table table = bounds_table(result);
  if (table.rows.empty()) return "";
  return "\n" + to_text(table, width) + join(sentences(result), "\n") + "\n";
}

}  // namespace kv::reports

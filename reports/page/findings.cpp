#include "kvcheck/reports/page/findings.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {
namespace {

constexpr std::size_t far = 64;  // tokens, as in the figure of recall against budget

using Summaries = std::vector<const SpecSummary*>;

std::string percent(double share) {
  return number_entry(100 * share, 1).text + "\u00a0%";  // no line break between the two
}

// The specs that store no more than their budget, by budget, the best first.
std::map<std::uint32_t, Summaries> ranked(const std::vector<SpecSummary>& all) {
  std::map<std::uint32_t, Summaries> by_budget;
  for (const SpecSummary& summary : all) {
    if (!stores_more(summary) && std::isfinite(summary.after.retained_mass.mean)) {
      by_budget[summary.spec.budget].push_back(&summary);
    }
  }
  for (auto& [budget, some] : by_budget) {
    std::ranges::stable_sort(some, std::greater<>(),
                             [](const SpecSummary* one) { return one->after.retained_mass.mean; });
  }
  return by_budget;
}

std::string others_text(const std::vector<SpecSummary>& all, std::uint32_t budget) {
  std::vector<std::string> names;
  for (const SpecSummary& summary : all) {
    if (summary.spec.budget != budget || !stores_more(summary)) continue;
    names.push_back(summary.name + " (" + number_entry(summary.stored_peak, 0).text + ")");
  }
  if (names.empty()) return "";
  return "Not ranked, because a unit stores more rows than " + std::to_string(budget) +
         " tokens: " + join(names, ", ") + ".";
}

// The cell that evicts nothing and sees everything, stored as the run says; if there is none, the
// first that is stored in another way. Null if there is neither.
const ClosedLoopCell* dense_cell(const ClosedLoopResult& result) {
  const ClosedLoopCell* other = nullptr;
  for (const ClosedLoopCell& cell : result.cells) {
    const Spec& spec = cell.cell.spec;
    if (spec.policy->name != "dense" || spec.selects()) continue;
    if (stored_as(spec, result.storage) == result.storage) return &cell;
    if (other == nullptr) other = &cell;
  }
  return other;
}

// What the cell of dense_cell() is compared as.
std::string nothing_evicted(const ClosedLoopResult& result, const ClosedLoopCell& dense) {
  const std::string stored = stored_as(dense.cell.spec, result.storage);
  if (stored == result.storage) return "with nothing evicted";
  return "with nothing evicted and keys and values stored as " + stored;
}

}  // namespace

std::vector<std::string> findings_of(const ReplayResult& result) {
  const std::vector<SpecSummary> all = summarise(result);
  std::vector<Spec> specs;
  for (const SpecSummary& summary : all) specs.push_back(summary.spec);
  const std::uint32_t budget = middle_budget(specs);
  auto by_budget = ranked(all);
  std::vector<std::string> findings;
  const Summaries& some = by_budget[budget];
  if (some.size() < 2) return findings;
  const SpecSummary& best = *some[0];
  const SpecSummary& worst = *some.back();
  std::string first =
      "With a budget of " + std::to_string(budget) + " tokens, " + best.name +
      " kept most of the attention once it evicted: " + percent(best.after.retained_mass.mean) +
      " of its mass";
  if (std::isfinite(best.after.optimum_share)) {
    first += ", which is " + percent(best.after.optimum_share) +
             " of the most that any cache could keep";
  }
  findings.push_back(first + ".");
  findings.push_back("The next of " + std::to_string(some.size()) + " is " + some[1]->name +
                     " with " + percent(some[1]->after.retained_mass.mean) +
                     "; one text cannot say whether the two differ on others.");
  if (some.size() > 2) {
    findings.push_back("The least was kept by " + worst.name + ": " +
                       percent(worst.after.retained_mass.mean) + ".");
  }
  std::vector<std::string> elsewhere;
  for (const auto& [other, list] : by_budget) {
    if (other == budget || list.size() < 2) continue;
    elsewhere.push_back(list[0]->name + " at " + std::to_string(other) + " (" +
                        percent(list[0]->after.retained_mass.mean) + ")");
  }
  if (!elsewhere.empty()) {
    findings.push_back("The best at other budgets: " + join(elsewhere, ", ") + ".");
  }
  if (std::string others = others_text(all, budget); !others.empty()) {
    findings.push_back(std::move(others));
  }
  return findings;
}

std::vector<std::string> findings_of(const ClosedLoopResult& result) {
  std::vector<Spec> specs;
  for (const ClosedLoopCell& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::uint32_t budget = middle_budget(specs);
  const std::vector<std::string> names = names_of_cells(result);
  const ClosedLoopCell* const dense = dense_cell(result);
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const Spec& spec = result.cells[i].cell.spec;
    if (spec.policy->name != "dense" && spec.bounded() && spec.budget == budget) some.push_back(i);
  }
  std::vector<std::string> findings;
  if (some.size() < 2) return findings;
  std::ranges::stable_sort(some, {}, [&](std::size_t i) { return result.cells[i].perplexity(); });
  const auto shown = [&](std::size_t i) {
    return names[i] + " (" + perplexity_entry(result.cells[i].perplexity()).text + ")";
  };
  std::string first = "With a budget of " + std::to_string(budget) +
                      " tokens, the lowest perplexity is that of " + shown(some.front()) +
                      ", the highest that of " + shown(some.back());
  if (dense != nullptr) {
    first += "; " + nothing_evicted(result, *dense) + " it is " +
             perplexity_entry(dense->perplexity()).text;
  }
  findings.push_back(first + ".");
  if (dense != nullptr && result.longest > result.context && result.context > 0) {
    findings.push_back("The text is longer than the " + with_commas(result.context) +
                       " tokens that the model was trained on, so the model with nothing evicted "
                       "is no upper limit.");
  }
  const auto recall = [](const ClosedLoopCell& cell) {
    RecallBin sum;
    for (const RecallBin& bin : cell.recall) {
      if (bin.first < far) continue;
      sum.asked += bin.asked;
      sum.right += bin.right;
    }
    return sum;
  };
  if (!result.asks() || recall(result.cells[some.front()]).asked == 0) return findings;
  const std::size_t most = *std::ranges::max_element(
      some, {}, [&](std::size_t i) { return recall(result.cells[i]).share(); });
  std::string text =
      "Of " + with_commas(recall(result.cells[most]).asked) + " questions about facts that are " +
      std::to_string(far) + " or more tokens back, " + names[most] +
      " answered most at this budget: " + percent(recall(result.cells[most]).share());
  if (dense != nullptr) {
    text += "; " + nothing_evicted(result, *dense) + " " + percent(recall(*dense).share()) +
            " were answered";
  }
  findings.push_back(text + ".");
  return findings;
}

std::string findings_html(const std::vector<std::string>& findings) {
  if (findings.empty()) return "";
  return "<p class=\"findings\">" + html_escaped(join(findings, " ")) + "</p>\n";
}

}  // namespace kv::reports

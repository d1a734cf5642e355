// The sentences about a model that ran: over a text, and on the items of a task file.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/page/findings.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {
namespace {

std::string percent(double share) {
  return number_entry(100 * share, 1).text + "\u00a0%";  // no line break between the two
}

bool evicts_nothing(const Spec& spec) {
  return spec.policy->name == "dense" && !spec.selects();
}

// The cell that evicts nothing, stored as the run says; if there is none, the first that is stored
// in another way. Null if there is neither.
template <typename Outcome>
auto dense_cell(const Outcome& result) {
  decltype(result.cells.data()) other = nullptr;
  for (const auto& cell : result.cells) {
    if (!evicts_nothing(cell.cell.spec)) continue;
    if (stored_as(cell.cell.spec, result.storage) == result.storage) return &cell;
    if (other == nullptr) other = &cell;
  }
  return other;
}

// Cells that are ranked with each other, and cells beside them.
struct Ranked {
  std::vector<std::size_t> some{};
  std::vector<std::size_t> beside{};

  // "Not ranked, because the cache stores more than the budget: h2o lazy:64."; nothing if all are.
  [[nodiscard]] std::vector<std::string> finding(const std::vector<Spec>& specs,
                                                 const std::vector<std::string>& names) const {
    std::vector<std::string> others;
    for (const std::size_t i : beside) {
      if (std::ranges::find(others, names[i]) == others.end()) others.push_back(names[i]);
    }
    if (others.empty()) return {};
    const std::string why =
        stores_more(specs[beside.front()]) ? "more than the budget" : "no more than the budget";
    return {"Not ranked, because the cache" +
            std::string(others.size() == 1 ? " stores " : "s store ") + why + ": " +
            join(others, ", ") + "."};
  }
};

// Those that store no more than their budget; if there are not two of them, those that store more.
Ranked ranked(const std::vector<Spec>& specs, const std::vector<std::size_t>& cells) {
  Ranked within;
  for (const std::size_t i : cells) {
    (stores_more(specs[i]) ? within.beside : within.some).push_back(i);
  }
  if (within.some.size() < 2 && within.beside.size() > within.some.size()) {
    std::swap(within.some, within.beside);
  }
  return within;
}

// What the cell of dense_cell() is compared as.
std::string nothing_evicted(const Cell& dense, const std::string& storage) {
  const std::string stored = stored_as(dense.spec, storage);
  if (stored == storage) return "with nothing evicted";
  return "with nothing evicted and keys and values stored as " + stored;
}

// Perplexity and size by the form in which keys and values are stored; empty if there is one form.
std::string storage_finding(const ClosedLoopResult& result) {
  const ClosedLoopCell* const base = dense_cell(result);
  if (base == nullptr) return "";
  const auto shown = [&](const ClosedLoopCell& cell) {
    return perplexity_entry(cell.perplexity()).text + " with keys and values stored as " +
           stored_as(cell.cell.spec, result.storage);
  };
  std::vector<std::string> others;
  for (const ClosedLoopCell& cell : result.cells) {
    if (&cell == base || !evicts_nothing(cell.cell.spec)) continue;
    const std::string share =
        percent(static_cast<double>(cell.kv_bytes) / static_cast<double>(base->kv_bytes));
    others.push_back(perplexity_entry(cell.perplexity()).text + " as " +
                     stored_as(cell.cell.spec, result.storage) + " (" + share +
                     (others.empty() ? " of the bytes)" : ")"));
  }
  if (others.empty()) return "";
  return "With nothing evicted, perplexity is " + shown(*base) + ", " + join(others, ", ") + ".";
}

std::vector<std::string> policy_findings(const ClosedLoopResult& result) {
  std::vector<Spec> specs;
  for (const ClosedLoopCell& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::uint32_t budget = middle_budget(specs);
  const std::vector<std::string> names = names_of_cells(result);
  const ClosedLoopCell* const dense = dense_cell(result);
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool bounded = specs[i].policy->name != "dense" && specs[i].bounded();
    if (bounded && specs[i].budget == budget) cells.push_back(i);
  }
  Ranked within = ranked(specs, cells);
  std::vector<std::size_t>& some = within.some;
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
    first += "; " + nothing_evicted(dense->cell, result.storage) + " it is " +
             perplexity_entry(dense->perplexity()).text;
  }
  findings.push_back(first + ".");
  std::ranges::move(within.finding(specs, names), std::back_inserter(findings));
  if (dense != nullptr && result.longest > result.context && result.context > 0) {
    findings.push_back("The text is longer than the " + with_commas(result.context) +
                       " tokens that the model was trained on, so the model with nothing evicted "
                       "is no upper limit.");
  }
  if (!result.asks() || far_recall(result.cells[some.front()]).asked == 0) return findings;
  const std::size_t most = *std::ranges::max_element(
      some, {}, [&](std::size_t i) { return far_recall(result.cells[i]).share(); });
  const std::size_t asked = far_recall(result.cells[most]).asked;
  std::string text =
      "Of " + with_commas(asked) +
      (asked == 1 ? " question about a fact that is " : " questions about facts that are ") +
      std::to_string(far_back) + " or more tokens back, " + names[most] +
      " answered most at this budget: " + percent(far_recall(result.cells[most]).share());
  if (dense != nullptr) {
    text += "; " + nothing_evicted(dense->cell, result.storage) + " " +
            percent(far_recall(*dense).share()) + " were answered";
  }
  findings.push_back(text + ".");
  return findings;
}

// The middle budget as a reader sees it: tokens, or the share of a prompt that most specs have.
std::string middle_budget_text(const std::vector<Spec>& specs) {
  const std::uint32_t budget = middle_budget(specs);
  if (budget > 0) return std::to_string(budget) + " tokens";
  std::map<std::string, std::size_t> uses;
  for (const Spec& spec : specs) {
    if (spec.bounded() && spec.budget == 0) ++uses[spec.budget_text()];
  }
  const auto by_count = [](const auto& pair) { return pair.second; };
  return uses.empty() ? "" : std::ranges::max_element(uses, {}, by_count)->first;
}

// The cells whose budget has that text.
std::vector<std::size_t> cells_at(const std::vector<Spec>& specs, const std::string& budget) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string own = specs[i].budget_text() + (specs[i].budget > 0 ? " tokens" : "");
    if (!evicts_nothing(specs[i]) && specs[i].bounded() && own == budget) cells.push_back(i);
  }
  return cells;
}

// How many items each policy of these cells answered exactly, as the mean over its seeds.
std::map<std::string, double> answered(const TaskResult& result,
                                       const std::vector<std::size_t>& cells,
                                       const std::vector<std::string>& names) {
  std::map<std::string, std::pair<double, double>> sums;  // of answers, of seeds
  for (const std::size_t i : cells) {
    auto& [right, seeds] = sums[names[i]];
    right +=
        static_cast<double>(std::ranges::count(result.cells[i].answers, true, &TaskAnswer::exact));
    ++seeds;
  }
  std::map<std::string, double> means;
  for (const auto& [label, sum] : sums) means[label] = sum.first / sum.second;
  return means;
}

// "h2o and tova (11)": all that answered so many.
std::string with_count(const std::map<std::string, double>& counts, double count) {
  std::vector<std::string> names;
  for (const auto& [name, own] : counts) {
    if (own == count) names.push_back(name);
  }
  return join(names, " and ") + " (" +
         number_entry(count, count == std::floor(count) ? 0 : 1).text + ")";
}

}  // namespace

std::vector<std::string> findings_of(const ClosedLoopResult& result) {
  std::vector<std::string> findings = policy_findings(result);
  if (std::string stored = storage_finding(result); !stored.empty()) {
    findings.push_back(std::move(stored));
  }
  return findings;
}

std::vector<std::string> findings_of(const TaskResult& result) {
  std::vector<Spec> specs;
  for (const TaskCell& cell : result.cells) specs.push_back(cell.cell.spec);
  const std::string budget = middle_budget_text(specs);
  const std::vector<std::string> names = names_of(specs);
  const Ranked within = ranked(specs, cells_at(specs, budget));
  const std::map<std::string, double> counts = answered(result, within.some, names);
  if (counts.empty() || result.items.empty()) return {};
  const auto by_count = [](const auto& pair) { return pair.second; };
  const auto [fewest, most_of] = std::ranges::minmax_element(counts, {}, by_count);
  const double most = most_of->second;
  const double least = fewest->second;
  std::string text = "With a budget of " + budget + ", of " + with_commas(result.items.size()) +
                     (result.items.size() == 1 ? " item" : " items") +
                     " the most were answered exactly with " + with_count(counts, most);
  if (least < most) text += ", the fewest with " + with_count(counts, least);
  if (const TaskCell* const dense = dense_cell(result)) {
    text += "; " + nothing_evicted(dense->cell, result.storage) + " it is " +
            std::to_string(std::ranges::count(dense->answers, true, &TaskAnswer::exact));
  }
  std::vector<std::string> findings = {text + "."};
  std::ranges::move(within.finding(specs, names), std::back_inserter(findings));
  return findings;
}

}  // namespace kv::reports

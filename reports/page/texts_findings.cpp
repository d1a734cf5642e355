// The sentences about all texts together.
#include <algorithm>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/page/findings.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {
namespace {

// Rows of which the first is what the others were compared with: the best of their budget, or the
// complete cache.
using Rows = std::vector<const ComparedSpec*>;

std::vector<Rows> groups_of(const Comparison& comparison) {
  std::vector<Rows> groups;
  for (const ComparedSpec& row : comparison.rows) {
    if (row.other.empty()) {
      groups.push_back({&row});
      continue;
    }
    // Budgets may have a best of the same name, of which the last is this row's.
    const auto own = std::ranges::find(groups.rbegin(), groups.rend(), row.other,
                                       [](const Rows& rows) { return rows.front()->name; });
    if (own != groups.rend()) own->push_back(&row);
  }
  return groups;
}

// The group of most rows, the middle one if several have as many.
Rows widest(const std::vector<Rows>& groups) {
  std::size_t most = 0;
  for (const Rows& rows : groups) most = std::max(most, rows.size());
  std::vector<const Rows*> wide;
  for (const Rows& rows : groups) {
    if (rows.size() == most) wide.push_back(&rows);
  }
  return wide.empty() ? Rows() : *wide[(wide.size() - 1) / 2];
}

// The name of a row after the first, with its budget if that is not the same of all of them.
std::string name_among(const Rows& rows, const ComparedSpec& row) {
  const bool same = std::all_of(rows.begin() + 1, rows.end(), [&](const ComparedSpec* other) {
    return other->budget == rows.back()->budget;
  });
  return same ? row.name : row.name + " at " + row.budget;
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> some(names.begin(), names.begin() + most);
  return join(some, ", ") + ", ...";
}

// "By share of exact answers over 60 items, dense, which keeps every token, has 0.8500."
std::string complete_text(const Comparison& comparison, const ComparedSpec& complete) {
  return "By " + comparison.title() + " over " + comparison.measure.counted(comparison.texts) +
         ", " + complete.name + ", which keeps every token, has " +
         entry_of(comparison.measure, complete.mean).text + ".";
}

// "By retained mass, the best at a budget of 64 tokens over 8 texts is h2o (0.9607)."
std::string best_text(const Comparison& comparison, const ComparedSpec& best) {
  const bool tokens =
      !best.budget.empty() && best.budget.find_first_not_of("0123456789") == std::string::npos;
  const std::string budget = "at a budget of " + best.budget + (tokens ? " tokens" : "") +
                             " over " + comparison.measure.counted(comparison.texts);
  if (!best.same_queries) {
    return "By " + comparison.title() + ", no best is named " + budget +
           ", because the means of these specs begin at different queries.";
  }
  return "By " + comparison.title() + ", the best " + budget + " is " + best.name + " (" +
         entry_of(comparison.measure, best.mean).text + ").";
}

std::string finding_of(const Comparison& comparison) {
  const Rows rows = widest(groups_of(comparison));
  if (rows.size() < 2) return "";
  const ComparedSpec& first = *rows.front();
  const bool complete = first.name == comparison.complete;
  std::string text = complete ? complete_text(comparison, first) : best_text(comparison, first);
  if (!complete && !first.same_queries) return text;
  const auto few = [](const ComparedSpec* row) { return row->finding == Finding::few; };
  if (std::any_of(rows.begin() + 1, rows.end(), few)) {
    return text + " These are too few to say anything of other " +
           std::string(comparison.measure.units()) + ".";
  }
  std::map<Finding, std::vector<std::string>> found;
  for (const ComparedSpec* const row : rows) {
    if (row != &first) found[row->finding].push_back(name_among(rows, *row));
  }
  const bool more_is_better = comparison.measure.more_is_better;
  const std::size_t worse = found[more_is_better ? Finding::lower : Finding::higher].size();
  const bool one = rows.size() == 2;
  text += one ? " The other, " + name_among(rows, *rows.back()) + ","
              : " Of the " + std::to_string(rows.size() - 1) + " others, " + std::to_string(worse) +
                    (worse == 1 ? " is" : " are") + " shown to be worse";
  if (one && worse == 1) text += " is shown to be worse";
  const auto add = [&](Finding finding, const std::string& words) {
    const std::vector<std::string>& names = found[finding];
    if (names.empty()) return;
    text += one ? " is " + words
                : "; " + std::to_string(names.size()) + (names.size() == 1 ? " is " : " are ") +
                      words + " (" + names_text(names) + ")";
  };
  add(more_is_better ? Finding::higher : Finding::lower, "shown to be better");
  add(Finding::equal, "shown to be equal within " + shortest(comparison.margin));
  add(Finding::same, "the same in all of these " + std::string(comparison.measure.units()));
  add(Finding::not_shown, "not shown to differ");
  return text + ".";
}

}  // namespace

std::vector<std::string> findings_of(const TextsSection& section) {
  // One measure of each kind leads: what replays retain, what evaluations lose, what is answered.
  std::vector<std::string> findings;
  std::vector<MeasuredIn> kinds;
  for (const TextsComparison& one : section.comparisons) {
    const MeasuredIn kind = one.comparison.measure.in;
    if (std::ranges::find(kinds, kind) != kinds.end()) continue;
    std::string finding = finding_of(one.comparison);
    if (finding.empty()) continue;
    kinds.push_back(kind);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace kv::reports

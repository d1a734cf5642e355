// The sentences about all texts together.
#include <algorithm>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/page/findings.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {
namespace {

// The rows of one budget, of which the first is the best and the others were compared with it.
using Rows = std::vector<const ComparedSpec*>;

std::vector<Rows> groups_of(const Comparison& comparison) {
  std::vector<Rows> groups;
  for (const ComparedSpec& row : comparison.rows) {
    if (row.other.empty()) groups.emplace_back();
    if (!groups.empty()) groups.back().push_back(&row);
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

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> some(names.begin(), names.begin() + most);
  return join(some, ", ") + ", ...";
}

std::string finding_of(const Comparison& comparison) {
  const Rows rows = widest(groups_of(comparison));
  if (rows.size() < 2) return "";
  const ComparedSpec& best = *rows.front();
  const bool tokens =
      !best.budget.empty() && best.budget.find_first_not_of("0123456789") == std::string::npos;
  const std::string budget = "at a budget of " + best.budget + (tokens ? " tokens" : "") +
                             " over " + comparison.measure.counted(comparison.texts);
  if (!best.same_queries) {
    return "By " + comparison.title() + ", no best is named " + budget +
           ", because the means of these specs begin at different queries.";
  }
  std::string text = "By " + comparison.title() + ", the best " + budget + " is " + best.name +
                     " (" + entry_of(comparison.measure, best.mean).text + ").";
  std::map<Finding, std::vector<std::string>> found;
  for (const ComparedSpec* const row : rows) {
    if (row != &best) found[row->finding].push_back(row->name);
  }
  if (!found[Finding::few].empty()) {
    return text + " These are too few to say anything of other " +
           std::string(comparison.measure.units()) + ".";
  }
  const std::size_t worse = found[Finding::lower].size() + found[Finding::higher].size();
  const bool one = rows.size() == 2;
  text += one ? " The other, " + rows.back()->name + ","
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

#include "kvcheck/cli/replay/spec_notes.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

// How many tokens a text must have before any is left out; 0: the spec never leaves any out, by
// intention.
std::size_t room_of(const Spec& spec) {
  if (spec.selects()) return spec.top_pages.attended;
  if (!spec.bounded() || spec.budgets.law != Budgets::Law::equal) return 0;
  return spec.budget + (spec.timing == Timing::lazy ? spec.slack : 0);
}

// The specs of each label, one of each budget.
using ByLabel = std::vector<std::pair<std::string, std::vector<const Spec*>>>;

ByLabel by_label(std::span<const Cell> cells) {
  ByLabel labels;
  for (const Cell& cell : cells) {
    std::string label = cell.spec.label();
    auto at = std::ranges::find(labels, label, &ByLabel::value_type::first);
    if (at == labels.end()) at = labels.insert(at, {std::move(label), {}});
    const std::string budget = cell.spec.budget_text();
    const auto same = [&](const Spec* spec) { return spec->budget_text() == budget; };
    if (std::ranges::none_of(at->second, same)) at->second.push_back(&cell.spec);
  }
  return labels;
}

// The labels to whose specs the note applies, with their budgets if it does not apply to all.
template <typename Says>
std::vector<std::string> labels_of(const ByLabel& all, Says says) {
  std::vector<std::string> names;
  for (const auto& [label, specs] : all) {
    const bool of_all = std::ranges::all_of(specs, [&](const Spec* spec) { return says(*spec); });
    if (of_all) names.push_back(label);
    for (const Spec* const spec : specs) {
      if (!of_all && says(*spec)) names.push_back(label + " at " + spec->budget_text());
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> notes_on(std::span<const Cell> cells, std::size_t longest) {
  const ByLabel labels = by_label(cells);
  std::vector<std::string> notes;
  const auto say = [&](const std::vector<std::string>& names, const std::string& what) {
    if (!names.empty()) notes.push_back(join(names, ", ") + ": " + what);
  };
  say(labels_of(labels, [&](const Spec& spec) { return room_of(spec) >= longest; }),
      "no token is left out, because no text exceeds the cache; expected a smaller budget than " +
          std::to_string(longest) + ", or a longer text");
  say(labels_of(labels,
                [](const Spec& spec) {
                  return spec.budget > 0 && spec.recent == 0 && spec.middle() == 0;
                }),
      "the sinks fill the budget, and no recent token is kept");
  say(labels_of(labels,
                [](const Spec& spec) {
                  return spec.bounded() && spec.timing == Timing::lazy && spec.slack > spec.budget;
                }),
      "more tokens may wait for a trim than the budget holds; lazy sets their number, "
      "independent of the budget");
  return notes;
}

}  // namespace kv::cli

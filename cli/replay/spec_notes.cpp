#include "kvcheck/cli/replay/spec_notes.h"

#include <algorithm>

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

// The labels of the specs to which the note applies, each once.
template <typename Says>
std::vector<std::string> labels_of(std::span<const Cell> cells, Says says) {
  std::vector<std::string> labels;
  for (const Cell& cell : cells) {
    if (!says(cell.spec)) continue;
    const std::string label = cell.spec.label();
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  return labels;
}

}  // namespace

std::vector<std::string> notes_on(std::span<const Cell> cells, std::size_t longest) {
  std::vector<std::string> notes;
  const auto say = [&](const std::vector<std::string>& labels, const std::string& what) {
    if (!labels.empty()) notes.push_back(join(labels, ", ") + ": " + what);
  };
  say(labels_of(cells, [&](const Spec& spec) { return room_of(spec) >= longest; }),
      "no token is left out, because no text exceeds the cache; expected a smaller budget than " +
          std::to_string(longest) + ", or a longer text");
  say(labels_of(cells,
                [](const Spec& spec) {
                  return spec.budget > 0 && spec.recent == 0 && spec.middle() == 0;
                }),
      "the sinks fill the budget, and no recent token is kept");
  say(labels_of(cells,
                [](const Spec& spec) {
                  return spec.bounded() && spec.timing == Timing::lazy && spec.slack > spec.budget;
                }),
      "more tokens may wait for a trim than the budget holds; lazy sets their number, "
      "independent of the budget");
  return notes;
}

}  // namespace kv::cli

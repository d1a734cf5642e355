#include "kvcheck/cli/report/compared_results.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/named_spec.h"

namespace kv::cli {
namespace {

// Of one file, evaluations of one size of windows: a text in two sizes is not two texts.
Result<std::optional<std::size_t>> window_of(const Arguments& arguments,
                                             std::span<const reports::StoredRun> runs) {
  const auto given = arguments.count("window", 0, std::numeric_limits<std::int32_t>::max());
  if (!given) return given.error();
  if (*given) return std::optional<std::size_t>(**given);
  const std::vector<std::size_t> windows = reports::windows_of(runs);
  if (windows.size() < 2 || arguments.operands().size() == 2) return std::optional<std::size_t>();
  std::string list;
  for (const std::size_t window : windows) {
    list += (list.empty() ? "" : ", ") + std::to_string(window);
  }
  return usage_error(arguments.operands()[0] + " has evaluations of texts in windows of " + list +
                     " tokens (0: not cut), which are not different texts; expected --window with "
                     "one of these, or --run");
}

}  // namespace

Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const reports::StoredRun> runs) {
  const auto window = window_of(arguments, runs);
  if (!window) return window.error();
  reports::Selection selection{.window = *window};
  const std::vector<std::string> words = arguments.values("policies");
  if (words.empty()) return selection;
  selection.accepts = [words](const Spec& spec) {
    return std::ranges::any_of(
        words, [&](const std::string& word) { return reports::names_spec(word, spec); });
  };
  return selection;
}

}  // namespace kv::cli

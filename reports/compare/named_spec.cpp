#include "kvcheck/reports/compare/named_spec.h"

#include <algorithm>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

// As the column `against` and legends of several budgets show a name.
bool is_name_of(const std::string& words, const std::string& name, const Spec& spec) {
  if (!words.starts_with(name)) return false;
  const std::string_view rest = std::string_view(words).substr(name.size());
  const std::string budget = spec.budget_text();
  return rest.empty() || rest == " at " + budget || rest == " (" + budget + ")";
}

// The specs as a figure names them that says once what chunk all of them have.
std::vector<Spec> without_common_chunk(std::span<const Spec> specs) {
  std::vector<Spec> bare(specs.begin(), specs.end());
  const auto differs = [&](const Spec& spec) { return spec.chunk != specs.front().chunk; };
  if (std::ranges::any_of(specs, differs)) return bare;
  for (Spec& spec : bare) spec.chunk = 1;
  return bare;
}

// Specs whose whole name the words are: in full, without a common chunk, or cut for a legend.
std::vector<bool> wholly_named(const std::string& words, std::span<const Spec> specs) {
  const std::vector<Spec> bare = without_common_chunk(specs);
  std::vector<bool> named(specs.size());
  for (const auto& names : {names_of(specs), names_of(bare), labels_of(specs), labels_of(bare)}) {
    for (std::size_t i = 0; i < specs.size(); ++i) named[i] = is_name_of(words, names[i], specs[i]);
    if (std::ranges::find(named, true) != named.end()) break;
  }
  return named;
}

bool equals(const std::string& words, const SpecDefaults& defaults, const Spec& spec) {
  const auto parsed = parse_spec(words, defaults);
  return parsed && *parsed == spec;
}

// Where they name no chunk, at that of the spec.
bool names_but_for_chunk(const std::string& words, const Spec& spec) {
  const Spec own = unresolved(spec);
  return equals(words, {.chunk = own.chunk}, own) ||
         equals(words, {.budget = own.budget, .chunk = own.chunk}, own);
}

bool names_part(const std::string& words, const Spec& spec) {
  return gives_part_of(words, unresolved(spec));
}

void add_new(const Spec& spec, std::set<std::string>& known, std::vector<Spec>& specs) {
  // A share of two prompts is two budgets.
  if (known.insert(spec.canonical() + spec.budget_text()).second) specs.push_back(spec);
}

}  // namespace

bool names_spec(const std::string& words, const Spec& spec) {
  if (words == spec.policy->name || words == spec.label() || words == spec.canonical()) return true;
  if (is_name_of(words, row_name(spec), spec)) return true;
  // As they stand, or, where they name no budget, at that of the spec.
  const Spec own = unresolved(spec);
  return equals(words, {}, own) || equals(words, {.budget = own.budget}, own);
}

std::vector<bool> named_among(const std::string& words, std::span<const Spec> specs) {
  std::vector<bool> named = wholly_named(words, specs);
  for (const auto& means : {names_spec, names_but_for_chunk, names_part}) {
    if (std::ranges::find(named, true) != named.end()) break;
    for (std::size_t i = 0; i < specs.size(); ++i) named[i] = means(words, specs[i]);
  }
  return named;
}

std::vector<const MeasuredSpec*> specs_named(const std::string& words, const MeasuredTexts& all) {
  std::vector<Spec> specs;
  for (const MeasuredSpec& spec : all.specs) specs.push_back(spec.spec);
  const std::vector<bool> named = named_among(words, specs);
  std::vector<const MeasuredSpec*> found;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named[i]) found.push_back(&all.specs[i]);
  }
  return found;
}

std::vector<Spec> specs_in(std::span<const StoredRun> runs) {
  std::set<std::string> known;
  std::vector<Spec> specs;
  const auto add_all = [&](const auto& results) {
    for (const auto& result : results) {
      for (const auto& cell : result.cells) add_new(cell.cell.spec, known, specs);
    }
  };
  for (const StoredRun& run : runs) {
    add_all(run.traces);
    add_all(run.evaluations);
    add_all(run.tasks);
    add_all(run.timings);
  }
  return specs;
}

std::string not_named(std::string_view option,
                      const std::string& words,
                      std::string_view lacking,
                      std::span<const Spec> specs) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const std::string& name : names_of(specs)) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string sentence(option);
  sentence += " names '" + words + "', which " + std::string(lacking);
  const std::vector<std::string_view> known(names.begin(), names.end());
  std::string_view meant = nearest(words, known);
  if (meant.empty()) meant = nearest(words.substr(0, words.find_first_of(":; ")), known);
  if (!meant.empty()) return sentence + "; did you mean '" + std::string(meant) + "'?";
  const bool more = names.size() > most;
  names.resize(std::min(names.size(), most));
  return sentence + "; expected a policy or spec of it, such as " + join(names, ", ") +
         (more ? ", ..." : "");
}

}  // namespace kv::reports

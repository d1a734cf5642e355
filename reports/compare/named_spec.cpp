#include "kvcheck/reports/compare/named_spec.h"

#include <algorithm>

#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {

bool names_spec(const std::string& words, const Spec& spec) {
  if (words == spec.policy->name || words == spec.label() || words == spec.canonical()) return true;
  // As they stand, or, where they name no budget, at that of the spec.
  const auto own = parse_spec(words);
  if (own && *own == spec) return true;
  const auto there = parse_spec(words, {.budget = spec.bounded() ? spec.budget : 0});
  return there && *there == spec;
}

std::vector<bool> named_among(const std::string& words, std::span<const Spec> specs) {
  const std::vector<std::string> labels = labels_of(specs);
  const bool whole = std::ranges::find(labels, words) != labels.end();
  std::vector<bool> named;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    named.push_back(whole ? labels[i] == words : names_spec(words, specs[i]));
  }
  return named;
}

}  // namespace kv::reports

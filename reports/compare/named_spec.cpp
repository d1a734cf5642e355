#include "kvcheck/reports/compare/named_spec.h"

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

}  // namespace kv::reports

#include "kvcheck/cli/report/named_spec.h"

#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {

bool means(const std::string& words, const Spec& spec) {
  if (words == spec.policy->name || words == spec.label() || words == spec.canonical()) return true;
  const auto same = parse_spec(words, {.budget = spec.bounded() ? spec.budget : 0});
  return same && *same == spec;
}

}  // namespace kv::cli

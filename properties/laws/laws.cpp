#include <algorithm>

#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

std::vector<Law> all_laws() {
  std::vector<Law> all;
  for (const Laws group : {survival_laws, size_laws, cost_laws, sharing_laws, visibility_laws,
                           semantics_laws, choice_laws, resident_laws, return_laws, position_laws,
                           row_laws, isolation_laws, operation_laws, chunking_laws, call_laws,
                           attention_laws, reference_laws, statistical_laws}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace

std::span<const Law> laws() {
  static const std::vector<Law> all = all_laws();
  return all;
}

const Law* find_law(std::string_view id) {
  const auto found = std::ranges::find(laws(), id, &Law::id);
  return found == laws().end() ? nullptr : &*found;
}

}  // namespace kv::properties

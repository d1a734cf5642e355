#include <algorithm>
#include <array>
#include <iterator>

#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

std::vector<Law> all_laws() {
  using Group = std::vector<Law> (*)();
  constexpr std::array<Group, 12> groups = {survival_laws,  size_laws,      visibility_laws,
                                            resident_laws,  position_laws,  row_laws,
                                            isolation_laws, operation_laws, chunking_laws,
                                            attention_laws, reference_laws, statistical_laws};
  std::vector<Law> all;
  for (const Group group : groups) std::ranges::move(group(), std::back_inserter(all));
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

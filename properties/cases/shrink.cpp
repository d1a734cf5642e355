#include "kvcheck/properties/cases/shrink.h"

#include <optional>
#include <set>
#include <string>

namespace kv::properties {

Shrunk shrink(const CaseTree& failing,
              const std::function<bool(const Case&)>& fails,
              const ShrinkBound& bound) {
  const double begun = bound.clock ? bound.clock() : 0;
  Shrunk result{failing.value(), 0};
  std::set<std::string> known = {failing.value().text()};
  const auto is_over = [&] {
    return result.tried >= bound.candidates ||
           (bound.clock && bound.seconds > 0 && bound.clock() - begun >= bound.seconds);
  };
  std::optional<CaseTree> at = failing;
  while (at) {
    std::optional<CaseTree> next;
    at->simpler([&](const CaseTree& candidate) {
      if (is_over()) return result.cut = true;
      if (!known.insert(candidate.value().text()).second) return false;
      ++result.tried;
      if (fails(candidate.value())) next = candidate;
      return next.has_value();
    });
    if (next) result.smallest = next->value();
    at = next;
  }
  return result;
}

}  // namespace kv::properties

#include "kvcheck/properties/facts_shape.h"

namespace kv::properties {
namespace {

std::string mismatch(std::size_t unit,
                     std::string_view what,
                     std::size_t found,
                     std::size_t expected) {
  return "unit " + std::to_string(unit) + " reported " + std::to_string(found) + " " +
         std::string(what) + "; expected " + std::to_string(expected);
}

}  // namespace

std::optional<std::string> shape_error(const Facts& facts, std::size_t units, std::size_t queries) {
  if (facts.units.size() != units) {
    return "it reported " + std::to_string(facts.units.size()) + " units; expected " +
           std::to_string(units);
  }
  for (std::size_t i = 0; i < units; ++i) {
    const UnitFacts& unit = facts.units[i];
    const std::size_t pairs = queries * unit.returned.size();
    if (unit.visible.size() != queries * unit.mask_width) {
      return mismatch(i, "mask entries", unit.visible.size(), queries * unit.mask_width);
    }
    if (!unit.query_positions.empty() && unit.query_positions.size() != queries) {
      return mismatch(i, "query positions", unit.query_positions.size(), queries);
    }
    if (!unit.key_positions.empty() && unit.key_positions.size() != pairs) {
      return mismatch(i, "key positions", unit.key_positions.size(), pairs);
    }
    if (!unit.weights.empty() && unit.weights.size() != pairs) {
      return mismatch(i, "weights", unit.weights.size(), pairs);
    }
  }
  return {};
}

}  // namespace kv::properties

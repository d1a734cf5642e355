#include "kvcheck/traces/layer_rules.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <tuple>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

std::string number_text(double value) {
  return std::isfinite(value) ? shortest(value) : std::to_string(value);
}

// The table of a layer: its size, and that all numbers are finite and at least `least`.
template <typename T>
Result<void> check_table(const std::string& tensor,
                         std::span<const T> table,
                         std::size_t size,
                         double least) {
  if (table.size() != size) {
    return malformed("tensor " + tensor + " has " + std::to_string(table.size()) +
                     " numbers; expected " + std::to_string(size));
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto value = static_cast<double>(table[i]);
    if (std::isfinite(value) && value >= least) continue;
    return malformed("tensor " + tensor + " has " + number_text(value) + " at " +
                     std::to_string(i) + "; expected a finite number" +
                     (least == 0 ? ", at least 0" : ""));
  }
  return {};
}

Result<void> check_rules(const TraceInfo& info, std::size_t index) {
  const LayerRules& rules = info.rules[index];
  const std::string layer = "layers." + std::to_string(info.layers[index]);
  if (rules.layout == RopeLayout::none && !rules.frequencies.empty()) {
    return malformed("tensor '" + layer +
                     ".frequencies' is there, but rope_layout says that the "
                     "layer does not rotate");
  }
  if (rules.layout != RopeLayout::none) {
    if (rules.frequencies.empty() && info.rope.theta == 0) {
      return malformed("there is no tensor '" + layer +
                       ".frequencies', and __metadata__ has no "
                       "'rope_theta'; expected one of them, because the layer rotates");
    }
    if (!rules.frequencies.empty()) {
      auto right = check_table<double>("'" + layer + ".frequencies'", rules.frequencies,
                                       info.rope.dims / 2, 0);
      if (!right) return right;
    }
  }
  constexpr double lowest = -HUGE_VAL;
  for (const auto& [name, table, least] :
       {std::tuple{".sinks'", &rules.sinks, lowest}, std::tuple{".slopes'", &rules.slopes, 0.0}}) {
    if (table->empty()) continue;
    auto right = check_table<float>("'" + layer + name, *table, info.query_heads, least);
    if (!right) return right;
  }
  return {};
}

}  // namespace

Result<void> spread_rules(TraceMetadata& metadata, std::size_t layers) {
  std::vector<LayerRules>& rules = metadata.info.rules;
  if (rules.empty() || rules.size() == layers) return {};
  if (rules.size() > 1) {
    return malformed("__metadata__: " + metadata.listed + " has " + std::to_string(rules.size()) +
                     " values; expected one, or one for each of the " + std::to_string(layers) +
                     " recorded layers");
  }
  rules.assign(layers, LayerRules(rules.front()));
  return {};
}

Result<void> finish_rules(TraceInfo& info) {
  for (std::size_t index = 0; index < info.rules.size(); ++index) {
    if (auto right = check_rules(info, index); !right) return right;
  }
  const LayerRules plain{.layout = info.rope.layout};
  if (std::ranges::count(info.rules, plain) == std::ssize(info.rules)) info.rules.clear();
  if (info.model_layers > 0 && info.model_layers <= info.layers.back()) {
    return malformed("__metadata__: model_layers is " + std::to_string(info.model_layers) +
                     ", but layer " + std::to_string(info.layers.back()) +
                     " is recorded; expected a larger number");
  }
  return {};
}

}  // namespace kv

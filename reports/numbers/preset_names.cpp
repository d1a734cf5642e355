#include "kvcheck/reports/numbers/preset_names.h"

#include <tuple>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

// Whether the spec is the preset with other sizes: the settings that make the published system
// differ from the plain policy are the same, each by its word.
bool is_sized(const Spec& spec, const Spec& preset) {
  const auto word = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto kinds = [&](const Spec& of) {
    return std::tuple(of.policy, of.timing, of.visibility, of.positions, of.unit, of.vectors,
                      of.phases.compress, of.phases.then, word(of.budgets.text()),
                      of.storage ? word(of.storage->text()) : "");
  };
  const auto plain = parse_spec(spec.policy->name);
  return kinds(spec) == kinds(preset) && plain && kinds(spec) != kinds(*plain);
}

// What gives a preset the spec's budget, or its share of a prompt.
std::string size_of(const Spec& spec) {
  if (spec.phases.ratio > 0) return ":ratio=" + shortest(spec.phases.ratio / 1000.0);
  return spec.bounded() ? ":budget=" + std::to_string(spec.budget) : "";
}

bool is_at_its_size(const Spec& spec, const std::string& preset) {
  const auto same = parse_spec(preset + size_of(spec));
  return same && *same == spec;
}

}  // namespace

std::string preset_or_label(const Spec& spec, const std::string& label) {
  if (spec.label() == spec.policy->name) return label;
  std::vector<std::string> sized;
  for (const Preset& preset : presets()) {
    const std::string name = "@" + std::string(preset.name);
    if (is_at_its_size(spec, name)) return name;
    if (const auto own = parse_spec(name); own && is_sized(spec, *own)) sized.push_back(name);
  }
  return sized.size() == 1 ? sized.front() : label;
}

std::vector<std::string> names_of(std::span<const Spec> specs) {
  const std::vector<std::string> labels = labels_of(specs);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    names.push_back(preset_or_label(specs[i], labels[i]));
  }
  std::vector<std::string> apart = names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (std::size_t k = 0; k < specs.size(); ++k) {
      if (names[i] != names[k] || labels[i] == labels[k]) continue;
      // A preset as published keeps its name beside one of other sizes.
      const bool first = is_at_its_size(specs[i], names[i]) && !is_at_its_size(specs[k], names[k]);
      if (!first) apart[i] = labels[i];
    }
  }
  return apart;
}

}  // namespace kv::reports

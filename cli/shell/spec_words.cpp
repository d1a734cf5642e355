#include "kvcheck/cli/shell/spec_words.h"

#include <algorithm>
#include <span>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/setting_names.h"
#include "kvcheck/sim/spec/spec_names.h"
#include "kvcheck/sim/spec/spec_text.h"

namespace kv::cli {
namespace {

using Words = std::vector<std::string>;

// The policy that the spec names, itself or as a preset; null if there is none.
const PolicyEntry* policy_in(std::string_view spec) {
  std::string_view name = name_in(spec);
  if (name.starts_with('@')) {
    const Preset* const preset = find_preset(name.substr(1));
    if (preset == nullptr) return nullptr;
    name = name_in(preset->spec);
  }
  return find_policy(name);
}

Words fields_of(const PolicyEntry& policy) {
  Words fields;
  const Protection& protection = policy.protection;
  const bool bounded = protection.middle != Protection::Middle::unbounded;
  if (bounded && protection.takes_sinks) fields.emplace_back("sinks");
  if (bounded) fields.emplace_back("recent");
  if (bounded) fields.emplace_back("ratio");
  if (protection.middle == Protection::Middle::some) fields.emplace_back("budget");
  for (const Parameter& parameter : policy.parameters) fields.emplace_back(parameter.name);
  return fields;
}

Words values_of_field(const PolicyEntry& policy, std::string_view field) {
  const auto found = std::ranges::find(policy.parameters, field, &Parameter::name);
  if (found == policy.parameters.end()) return {};
  return {found->choices.begin(), found->choices.end()};
}

Words values_of_setting(std::string_view setting) {
  const auto all = [](const auto& words) { return Words(words.begin(), words.end()); };
  if (setting == "timing") return all(timing_words);
  if (setting == "visibility") return all(visibility_words);
  if (setting == "positions") return all(positions_words);
  if (setting == "unit") return all(unit_words);
  if (setting == "vectors") return all(vectors_words);
  if (setting == "compress") {
    return {"always",        "never",    "prompt",        "prompt+grow",   "prompt+hold",
            "prompt+every:", "question", "question+grow", "question+hold", "question+every:"};
  }
  if (setting == "storage") return {"f32", "f16", "bf16", "int8", "int4", "kivi4", "kivi2"};
  if (setting == "budgets") return {"equal", "pyramid:", "retrieval:", "adaptive:"};
  return {};
}

// `before` with each of the words that begin with `part`.
Words continued(std::string_view before, std::string_view part, const Words& words) {
  Words whole;
  for (const std::string& word : words) {
    if (word.starts_with(part)) whole.push_back(std::string(before) + word);
  }
  return whole;
}

bool names_field(std::string_view typed, const std::string& field) {
  return std::ranges::any_of(std::string_view(":,;"), [&](char mark) {
    return typed.find(mark + field + "=") != std::string_view::npos;
  });
}

// The names that are not yet there, each with the '=' that follows it.
Words open_names(std::string_view typed, const Words& names) {
  Words open;
  for (const std::string& name : names) {
    if (!names_field(typed, name)) open.push_back(name + "=");
  }
  return open;
}

}  // namespace

std::vector<std::string> spec_words(std::string_view typed) {
  const std::size_t mark = typed.find_last_of(":,;");
  if (mark == std::string_view::npos) {
    Words names;
    for (const PolicyEntry& policy : policy_registry()) names.emplace_back(policy.name);
    for (const Preset& preset : presets()) names.push_back("@" + std::string(preset.name));
    return continued("", typed, names);
  }
  const PolicyEntry* const policy = policy_in(typed);
  if (policy == nullptr) return {};
  // A ':' or ',' after the first ';' belongs to the value of a setting, such as timing=lazy:32.
  const std::size_t settings = typed.find(';');
  const bool setting = settings != std::string_view::npos;
  if (setting && typed[mark] != ';') return {};
  const std::string_view before = typed.substr(0, mark + 1);
  const std::string_view part = typed.substr(mark + 1);
  const std::size_t equals = part.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view name = part.substr(0, equals);
    return continued(typed.substr(0, mark + 2 + equals), part.substr(equals + 1),
                     setting ? values_of_setting(name) : values_of_field(*policy, name));
  }
  const std::span<const std::string_view> names = setting_names();
  return continued(
      before, part,
      open_names(typed, setting ? Words(names.begin(), names.end()) : fields_of(*policy)));
}

}  // namespace kv::cli

#include "kvcheck/sim/spec/spec_names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec_text.h"

namespace kv {
namespace {

using Names = std::vector<std::string_view>;

Names policy_names() {
  Names names;
  for (const PolicyEntry& entry : policy_registry()) names.push_back(entry.name);
  return names;
}

Names preset_names() {
  Names names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  return names;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The name as a spec spells it.
std::string spelled(bool is_preset, std::string_view name) {
  return (is_preset ? "@" : "") + std::string(name);
}

// The name that is nearest to `name`, which is not in `own`; empty if none is near. Names of the
// kind that was written come first, so they win among equally near ones.
std::string meant_by(std::string_view name, bool is_preset, const Names& own, const Names& other) {
  Names all = own;
  all.insert(all.end(), other.begin(), other.end());
  const std::string_view near = nearest(name, all);
  return near.empty() ? "" : spelled(is_preset == contains(own, near), near);
}

Error unknown_name(std::string_view name, bool is_preset) {
  const Names own = is_preset ? preset_names() : policy_names();
  const Names other = is_preset ? policy_names() : preset_names();
  std::vector<std::string> spelled_own;
  for (const std::string_view known : own) spelled_own.push_back(spelled(is_preset, known));
  return usage_error(unknown_word(is_preset ? "preset" : "policy", spelled(is_preset, name),
                                  Names(spelled_own.begin(), spelled_own.end()),
                                  meant_by(name, is_preset, own, other)));
}

// The fields and settings in `rest`, each after the separator that its kind requires; empty if they
// are not all name=value.
std::string respelled(std::string_view rest) {
  std::string fields;
  std::string settings;
  for (const std::string_view part : split(rest, ';')) {
    for (const std::string_view piece : split(part, ',')) {
      const std::string_view name = piece.substr(0, piece.find('='));
      if (name.empty() || name.size() == piece.size()) return {};
      const bool setting = contains(setting_names(), name);
      (setting ? settings : fields) += setting ? ";" : fields.empty() ? ":" : ",";
      (setting ? settings : fields) += piece;
    }
  }
  return fields + settings;
}

}  // namespace

std::string_view name_in(std::string_view spec) {
  return spec.substr(0, spec.find_first_of(":;"));
}

Result<const PolicyEntry*> policy_named(std::string_view name) {
  if (const PolicyEntry* policy = find_policy(name)) return policy;
  return unknown_name(name, false);
}

Result<const Preset*> preset_named(std::string_view name) {
  if (const Preset* preset = find_preset(name)) return preset;
  return unknown_name(name, true);
}

Result<void> check_after_name(std::string_view spec) {
  const std::size_t end = spec.find_first_of(":;, ");
  if (end == std::string_view::npos || spec[end] == ':' || spec[end] == ';') return {};
  const std::string_view name = spec.substr(0, end);
  const bool known =
      name.starts_with('@') ? find_preset(name.substr(1)) != nullptr : find_policy(name) != nullptr;
  const std::string rest = respelled(spec.substr(end + 1));
  if (!known || rest.empty()) return {};
  return usage_error("'" + std::string(name) + "' is followed by a '" + spec[end] +
                     "'; did you mean '" + one_line(std::string(name) + rest) + "'?");
}

}  // namespace kv

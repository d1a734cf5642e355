// Descriptions of policies and presets, as `kvcheck policies` prints them.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"

namespace kv::cli {

// Name, summary, fields with defaults and meaning, claims and source.
std::string policy_text(const PolicyEntry& policy);

// The same, with the meaning of the claims, differences, cost, and the settings of the cache.
std::string policy_details(const PolicyEntry& policy);

// One line: a name and its description.
std::string brief_line(std::string_view name, std::string_view text);

// Name, spec, claims, source, cost and differences.
std::string preset_text(const Preset& preset);

// The same, with its canonical text.
std::string preset_details(const Preset& preset);

// The description of the policy or preset that a spec names, as above, and the effects of its
// fields and settings. Requires a spec that parses.
std::string spec_details(std::string_view spec);

// One JSON object without a newline. Its field `kind` distinguishes policies from presets.
std::string policy_json(const PolicyEntry& policy);
std::string preset_json(const Preset& preset);

// The object of the policy or preset that the spec names, with the spec as given and its canonical
// text.
std::string spec_json(std::string_view spec);

}  // namespace kv::cli

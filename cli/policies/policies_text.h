// Policies and presets in words: what `kvcheck policies` prints.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"

namespace kv::cli {

// Name, summary, fields with defaults and meaning, claims and source.
std::string policy_text(const PolicyEntry& policy);

// The same, with what the claims mean, differences, cost, and the cache's settings.
std::string policy_details(const PolicyEntry& policy);

// One line: a name and what it is.
std::string brief_line(std::string_view name, std::string_view text);

// Name, what it stands for, claims, source, cost and differences.
std::string preset_text(const Preset& preset);

// The same, with its canonical text.
std::string preset_details(const Preset& preset);

// What a spec names, a policy or a preset, told as above, and what its fields and settings make of
// it. Requires that it parses.
std::string spec_details(std::string_view spec);

// One JSON object without a newline. `kind` tells policies and presets apart.
std::string policy_json(const PolicyEntry& policy);
std::string preset_json(const Preset& preset);

// The object of what the spec names, with the spec as given and its canonical text.
std::string spec_json(std::string_view spec);

}  // namespace kv::cli

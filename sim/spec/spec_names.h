// The names in a spec: policies, and presets with their @.
#pragma once

#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"

namespace kv {

// The name before a spec's fields and settings: a policy, or a preset with its @.
std::string_view name_in(std::string_view spec);

// The policy of that name. For an unknown name the error suggests the nearest policy or preset, or
// lists all policies if none is near.
Result<const PolicyEntry*> policy_named(std::string_view name);

// The preset of that name, given without its @. Errors as above, with presets listed.
Result<const Preset*> preset_named(std::string_view name);

// An error if a comma or a space follows a known name where a ':' or ';' belongs. The message
// spells the spec correctly.
Result<void> check_after_name(std::string_view spec);

}  // namespace kv

// The names in a spec: policies, and presets with their @.
#pragma once

#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"

namespace kv {

// What stands before a spec's fields and settings: a policy, or a preset with its @.
std::string_view name_in(std::string_view spec);

// The policy of that name. An unknown one is answered with the nearest policy or preset, or, when
// nothing is near, with all policies.
Result<const PolicyEntry*> policy_named(std::string_view name);

// The preset of that name, which is written without its @. Errors as above, the other way round.
Result<const Preset*> preset_named(std::string_view name);

// An error if a known name is followed by a comma or a space, where a ':' or ';' belongs; it spells
// the spec as it was meant.
Result<void> check_after_name(std::string_view spec);

}  // namespace kv

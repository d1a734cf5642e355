// Prompts: the part of properties/reference/cache_steps.h for specs that compress one.
#include <algorithm>

#include "kvcheck/properties/reference/cache_steps.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

bool CacheSteps::grows() const {
  return spec().phases.marked() && spec().phases.then == Phases::Then::grow;
}

bool CacheSteps::trims_first() const {
  return spec().timing == Timing::trim_then_attend && !is_prompt_ && !grows();
}

Spec for_prompt(const Spec& spec, std::uint64_t prompt) {
  Spec own = spec;
  if (!spec.phases.marked()) return own;
  own.phases.first_trim = prompt;
  const std::uint64_t share = prompt * spec.phases.ratio / 1000;
  own.budget = std::max(spec.budget, static_cast<std::uint32_t>(share));
  if (spec.phases.recent_follows) own.recent = own.budget - own.sinks;
  return own;
}

}  // namespace kv::properties

// Computes a spec's sinks, recent window and budget from its fields and from the values beside it.
#pragma once

#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_text.h"

namespace kv {

// The budget if neither the spec nor an option beside it gives one.
inline constexpr std::uint32_t default_budget = 256;

// The largest legal value of sinks, recent, budget, slack and chunk.
inline constexpr std::uint32_t largest_size = 0x7fffffff;

// The recent window if the spec does not give one. Requires sinks <= budget.
std::uint32_t default_recent(const PolicyEntry& policy, std::uint32_t sinks, std::uint32_t budget);

// Whether the policy has a budget that no field fixes.
bool leaves_budget_open(const SpecText& text);

// Sets sinks, recent and budget. For a policy without a middle, budget = sinks + recent, and the
// spec may give either of budget and recent. For other policies the budget is the given one or the
// default.
Result<void> set_sizes(const SpecText& text, const SpecDefaults& defaults, Spec& spec);

// Applies the chunk that was given beside the spec. An error if the spec gives another.
Result<void> set_chunk_beside(const SpecText& text, const SpecDefaults& defaults, Spec& spec);

}  // namespace kv

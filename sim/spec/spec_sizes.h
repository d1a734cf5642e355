// Protection and budget: from a spec's fields and the values given beside it to three numbers.
#pragma once

#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_text.h"

namespace kv {

// The budget of a spec that neither gives one nor is given one.
inline constexpr std::uint32_t default_budget = 256;

// The largest sinks, recent, budget, slack and chunk.
inline constexpr std::uint32_t largest_size = 0x7fffffff;

// The recent window of a policy whose spec does not give one. Requires sinks <= budget.
std::uint32_t default_recent(const PolicyEntry& policy, std::uint32_t sinks, std::uint32_t budget);

// Whether no field fixes the budget of a policy that has one.
bool leaves_budget_open(const SpecText& text);

// Sets sinks, recent and budget. Without a middle, budget = sinks + recent and either may be given;
// else the budget is given or the default.
Result<void> set_sizes(const SpecText& text, const SpecDefaults& defaults, Spec& spec);

// Sets the chunk that stands beside the spec, unless the spec gives the same.
Result<void> set_chunk_beside(const SpecText& text, const SpecDefaults& defaults, Spec& spec);

}  // namespace kv

// What a sweep will need, before it starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/sweep/blocks.h"

namespace kv::cli {

// "3 traces": what the plan names to run cells on.
std::string source_words(const PlanText& plan);

// Leaves out of the blocks the cells that the file holds already, and returns how many. Without a
// file, or with the name of none, there are none.
Result<std::size_t> leave_out_held(const std::string& file,
                                   const SweepPlan& plan,
                                   std::vector<SweepBlock>& blocks);

// "1:02:03".
std::string clock_text(double seconds);

// Upper bounds of what the blocks hold at one time.
std::vector<MemoryNeed> sweep_needs(const SweepPlan& plan,
                                    std::span<const SweepBlock> blocks,
                                    std::size_t threads);

// The bytes that the blocks add to the results file, within about a tenth for summaries and a
// quarter otherwise.
std::uint64_t sweep_bytes(const SweepPlan& plan, std::span<const SweepBlock> blocks);

// Seconds that the blocks take on so many idle cores, from a run of about a tenth of a second.
Result<double> sweep_seconds(const SweepPlan& plan,
                             std::span<const SweepBlock> blocks,
                             std::size_t threads);

}  // namespace kv::cli

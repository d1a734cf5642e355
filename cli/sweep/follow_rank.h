// The work of every rank of a sweep but rank 0.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/cli/ranks/ranks.h"
#include "kvcheck/cli/sweep/plan/sweep_plan.h"

namespace kv::cli {

// Runs the blocks that rank 0 deals, each on so many threads, until rank 0 says that all is done. A
// block that fails ends the work of this rank, and rank 0 learns why.
void follow_rank(Ranks& ranks, const SweepPlan& plan, std::size_t threads);

// Tells rank 0 in a sentence why this rank cannot work, and waits for the end.
void refuse_rank(Ranks& ranks, const std::string& why);

}  // namespace kv::cli

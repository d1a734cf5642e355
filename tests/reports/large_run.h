// A run of the size that pages of kvcheck explore are promised for: 4,096 tokens, 24 heads and 8
// policies, with the steps of one head for each policy.
#pragma once

#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/store/results.h"

namespace kv::testing {

struct LargeRun {
  reports::StoredRun run;
  reports::ExplorerTrace trace;
};

// Evictions are drawn at random and the attention is heavy-tailed, so that both compress worse than
// those of the policies and of recorded traces. Takes about a second.
LargeRun large_run();

}  // namespace kv::testing

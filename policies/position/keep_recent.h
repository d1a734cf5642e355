// dense, window and streaming: which tokens stay follows from the cache's sizes alone.
//
// dense keeps everything, window the last `recent` tokens, streaming the first `sinks` besides.
// None leaves a middle to choose from, so all three share one policy that is never asked.
//
// Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", ICLR 2024,
// arXiv:2309.17453, section 3 (dense, window and sinks with a rolling cache, side by side in its
// figure 1).
// Differs: timing, visibility and positions are the cache's settings, not the policy's.
// Cost: nothing; no state.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// The policy's evict fails a KV_CHECK: a cache that asks it has kept a middle it should not have.
std::unique_ptr<Policy> make_keep_recent();

PolicyEntry dense_policy();
PolicyEntry window_policy();
PolicyEntry streaming_policy();

}  // namespace kv

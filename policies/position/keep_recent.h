// dense, window and streaming: which tokens stay follows from the cache's sizes alone.
//
// dense keeps everything, window the last `recent` tokens, streaming the first `sinks` besides.
// None leaves a middle to choose from, so all three share one policy that is never asked.
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

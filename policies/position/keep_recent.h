// dense, window and streaming: the cache's sizes alone determine which tokens are kept.
//
// dense keeps everything, window keeps the last `recent` tokens, and streaming also keeps the first
// `sinks`. None of them has a middle to select from, so all three share one policy, whose evict is
// never called.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// The policy's evict fails a KV_CHECK: a cache that calls it has kept a middle by mistake.
std::unique_ptr<Policy> make_keep_recent();

PolicyEntry dense_policy();
PolicyEntry window_policy();
PolicyEntry streaming_policy();

}  // namespace kv

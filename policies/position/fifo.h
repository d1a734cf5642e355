// fifo: first in, first out; the oldest token of the middle goes.
//
// With sinks it keeps what streaming keeps with the whole middle as recent tokens; without sinks it
// is a window. It stands beside the others to show what the order of arrival alone is worth.
//
// Source: the plain queue; as an eviction policy in Mattson, Gecsei, Slutz and Traiger, "Evaluation
// techniques for storage hierarchies", IBM Systems Journal 9(2), 1970.
// Differs: sinks and recent tokens are the cache's to protect.
// Cost: O(1) time a token; no state.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_fifo();

PolicyEntry fifo_policy();

}  // namespace kv

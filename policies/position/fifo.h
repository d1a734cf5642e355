// fifo: first in, first out; evicts the oldest token of the middle.
//
// With sinks it keeps the same tokens as streaming whose recent window includes the whole middle.
// Without sinks it is a window. It serves as a baseline that uses the order of arrival alone.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_fifo();

PolicyEntry fifo_policy();

}  // namespace kv

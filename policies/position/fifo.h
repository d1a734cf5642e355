// fifo: first in, first out; the oldest token of the middle goes.
//
// With sinks it keeps what streaming keeps with the whole middle as recent tokens; without sinks it
// is a window. It stands beside the others to show what the order of arrival alone is worth.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_fifo();

PolicyEntry fifo_policy();

}  // namespace kv

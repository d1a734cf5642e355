// tova: scores a token by the attention that the last query paid it, and evicts the lowest.
//
// Nothing is protected by default: even the newest token may be evicted at once. Among equal scores
// the older token is evicted.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_tova();

PolicyEntry tova_policy();

}  // namespace kv

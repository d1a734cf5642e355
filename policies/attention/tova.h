// tova: a token is worth the attention that the last query paid it; the lowest goes.
//
// Nothing is protected by default: even the newest token may go at once. Among equal scores the
// older goes.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_tova();

PolicyEntry tova_policy();

}  // namespace kv

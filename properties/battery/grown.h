// Longer runs of a case: a declaration is offered for a broken law only if these are legal by it.
#pragma once

#include <string_view>

#include "kvcheck/properties/law.h"

namespace kv::properties {

// Whether no law that judges histories is broken, under the contract that `declaration` (a
// Relaxation's) makes, by the case fed on token by token and in chunks, far beyond the budget and
// the slack that it declares. A case that only just overflows shows no growth. A run that kills the
// subject says no.
bool holds_when_grown(Family& family, const Case& what, std::string_view declaration);

}  // namespace kv::properties

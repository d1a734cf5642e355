// The relations behind the laws on rows that compare more than one row.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Judgement half_step(const History& history, const Contract& contract);
Judgement returned_equals_stored(const History& history, const Contract& contract);
Judgement evict_equals_mask(Trial& trial, const Contract& contract);

}  // namespace kv::properties

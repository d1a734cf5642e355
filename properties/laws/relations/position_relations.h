// The laws on positions that look at more than one query at once, or at runs of their own.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Judgement positions_after_rollback(Trial& trial, const Contract& contract);
Judgement same_everywhere(const History& history, const Contract& contract);
Judgement begins_at_zero(Trial& trial, const Contract& contract);
Judgement sinks_untouched(const History& history, const Contract& contract);
Judgement shift_composes(Trial& trial, const Contract& contract);
Judgement keeps_norm(const History& history, const Contract& contract);

}  // namespace kv::properties

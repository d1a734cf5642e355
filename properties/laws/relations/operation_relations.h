// The relations behind the laws on operations.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Judgement same_twice(Trial& trial, const Contract& contract);
Judgement reset_is_fresh(Trial& trial, const Contract& contract);
Judgement forks_apart(Trial& trial, const Contract& contract);
Judgement truncate_is_never_fed(Trial& trial, const Contract& contract);
Judgement hostile_truncates(Trial& trial, const Contract& contract);
Judgement refusals_change_nothing(Trial& trial, const Contract& contract);
Judgement rollback_is_offered(Trial& trial, const Contract& contract);
Judgement reorder_moves_sequences(Trial& trial, const Contract& contract);
Judgement hostile_reorders(Trial& trial, const Contract& contract);
Judgement snapshot_continues(Trial& trial, const Contract& contract);
Judgement shift_moves_rows(Trial& trial, const Contract& contract);

}  // namespace kv::properties

// The relations behind the laws on attention.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Judgement sums_to_one(const History& history, const Contract& contract);
Judgement renormalised(const History& history, const Contract& contract);
Judgement alike_weigh_alike(Trial& trial, const Contract& contract);
Judgement no_leak(Trial& trial, const Contract& contract);
Judgement offset_is_nothing(Trial& trial, const Contract& contract);
Judgement newcomer_can_win(Trial& trial, const Contract& contract);
Judgement hitter_survives(Trial& trial, const Contract& contract);
Judgement decisions_follow_tokens(Trial& trial, const Contract& contract);
// Parts of the law that decisions follow tokens: by what each got, and with and without sinks.
Judgement merit_decides(Trial& trial, const Contract& contract);
Judgement sinks_weigh_nothing(Trial& trial, const Contract& contract);
Judgement ties_decide_alike(Trial& trial, const Contract& contract);

}  // namespace kv::properties

// The relations and judgements behind the laws of this room, by group.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

// Rows: those that compare more than one row.
Judgement half_step(const History& history, const Contract& contract);
Judgement returned_equals_stored(const History& history, const Contract& contract);
Judgement evict_equals_mask(Trial& trial, const Contract& contract);

// Positions: those that look at more than one query at once, or at runs of their own.
Judgement positions_after_rollback(Trial& trial, const Contract& contract);
Judgement same_everywhere(const History& history, const Contract& contract);
Judgement begins_at_zero(Trial& trial, const Contract& contract);
Judgement sinks_untouched(const History& history, const Contract& contract);
Judgement shift_composes(Trial& trial, const Contract& contract);
Judgement keeps_norm(const History& history, const Contract& contract);

// Attention.
Judgement sums_to_one(const History& history, const Contract& contract);
Judgement renormalised(const History& history, const Contract& contract);
Judgement alike_weigh_alike(Trial& trial, const Contract& contract);
Judgement no_leak(Trial& trial, const Contract& contract);
Judgement offset_is_nothing(Trial& trial, const Contract& contract);
Judgement attention_decides(Trial& trial, const Contract& contract);
Judgement newcomer_can_win(Trial& trial, const Contract& contract);
Judgement decisions_follow_tokens(Trial& trial, const Contract& contract);
// Parts of the law that decisions follow tokens: by what each got, and with and without sinks.
Judgement nothing_is_inherited(Trial& trial, const Contract& contract);
Judgement merit_decides(Trial& trial, const Contract& contract);
Judgement sinks_weigh_nothing(Trial& trial, const Contract& contract);
Judgement ties_decide_alike(Trial& trial, const Contract& contract);

// Isolation.
Judgement layers_apart(Trial& trial, const Contract& contract);
Judgement heads_apart(Trial& trial, const Contract& contract);
Judgement sequences_apart(Trial& trial, const Contract& contract);
Judgement group_exchanges(Trial& trial, const Contract& contract);
Judgement shared_alike(const History& history, const Contract& contract);
Judgement objects_apart(Trial& trial, const Contract& contract);
Judgement seeds_differ(Trial& trial, const Contract& contract);
Judgement seeds_agree(Trial& trial, const Contract& contract);

// What the specification of a cache can be given beside the calls of a history.
struct ReferenceGets {
  bool logits = true;  // the stream's; else the weights that the facts report, if they do
  bool inputs = true;  // keys, values, queries
  bool draws = true;   // those that the cache drew
};

// Whether the cache kept and showed what the specification that its contract names says.
Judgement keeps_to_reference(const History& history,
                             const Contract& contract,
                             const ReferenceGets& given);

// Operations.
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

// The relations behind the laws on isolation.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Judgement layers_apart(Trial& trial, const Contract& contract);
Judgement heads_apart(Trial& trial, const Contract& contract);
Judgement sequences_apart(Trial& trial, const Contract& contract);
Judgement group_exchanges(Trial& trial, const Contract& contract);
Judgement shared_alike(const History& history, const Contract& contract);
Judgement objects_apart(Trial& trial, const Contract& contract);
Judgement seeds_differ(Trial& trial, const Contract& contract);

}  // namespace kv::properties

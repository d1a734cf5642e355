// Which laws a file of histories can be judged by.
#pragma once

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/recorded/history_file.h"

namespace kv::properties {

// Why a recorded run cannot be judged by the law, whatever it contains or because of what it leaves
// out: the law makes calls of its own, or it reads logits or masks that the file does not state.
// Nothing: it can.
WhyNot not_judgeable(const Law& law, const RunHead& head, const RecordedPart& part);

// What the law says of the part. Requires that it can be judged.
Judgement judged(const Law& law, const RunHead& head, const RecordedPart& part);

}  // namespace kv::properties

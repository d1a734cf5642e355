// What a stored key and value say when they are read back.
#pragma once

#include "kvcheck/properties/subject.h"
#include "kvcheck/properties/tagged/tagged_state.h"

namespace kv::properties {

// Codes of 4 bits hold no tag: theirs is what was fed, with the distance between both.
Row read_row(const StoredCell& held, const TaggedOptions& options);

}  // namespace kv::properties

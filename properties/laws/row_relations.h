// Evicting is masking: the law that compares a cache with itself, unbounded.
#pragma once

#include "properties/law.h"

namespace kv {

Law returned_equals_stored_law();
Law evict_equals_mask_law();

}  // namespace kv

// Laws on rows that have files of their own.
#pragma once

#include "kvcheck/properties/law.h"

namespace kv::properties {

Law returned_equals_stored_law();
Law evict_equals_mask_law();
Law half_step_law();

}  // namespace kv::properties

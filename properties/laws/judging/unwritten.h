// The hint for caches that report a whole buffer where they are asked what they store.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "kvcheck/properties/subject.h"

namespace kv::properties {

// A sentence to follow the finding if some stored row holds no token; else nothing.
inline std::string unwritten_hint(std::span<const Row> stored) {
  const bool has_none =
      std::ranges::any_of(stored, [](const Row& row) { return row.value.position < 0; });
  if (!has_none) return {};
  return "; a row that holds no token (-1) may be returned and hidden by the mask, but it is not "
         "stored: leave out rows that were never written or are free";
}

}  // namespace kv::properties

// The visible positions of a cache, as one list.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

// The positions in stream order.
inline std::vector<Position> listed(const Visible& visible) {
  std::vector<Position> out;
  for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) out.push_back(p);
  out.insert(out.end(), visible.middle.begin(), visible.middle.end());
  for (Position p = visible.recent.first; p < visible.recent.last; ++p) out.push_back(p);
  return out;
}

// The positions from first to last, both included.
inline std::vector<Position> from_to(Position first, Position last) {
  std::vector<Position> out;
  for (Position p = first; p <= last; ++p) out.push_back(p);
  return out;
}

}  // namespace kv

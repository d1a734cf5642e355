// Shrinking, bounded: RapidCheck's own loop has no limit, and one failure of fifty calls once cost
// it 413,136 runs.
#pragma once

#include <cstdint>
#include <functional>

#include "kvcheck/properties/cases/generate.h"

namespace kv::properties {

struct ShrinkBound {
  std::uint64_t candidates = 1500;  // tried at most
  double seconds = 0;               // no candidate is begun later; 0: no limit
  std::function<double()> clock;    // null: no limit
};

struct Shrunk {
  Case smallest;
  std::uint64_t tried = 0;
  bool cut = false;  // the bound was met before all simpler cases were tried
};

// Walks from a failing case to simpler ones that fail too, taking the first at every step and never
// trying a case twice, until none fails or the bound is met.
Shrunk shrink(const CaseTree& failing,
              const std::function<bool(const Case&)>& fails,
              const ShrinkBound& bound);

}  // namespace kv::properties

// The cache with which a page opens.
#pragma once

#include <cstddef>

namespace kv {
struct ReplayResult;
struct Residency;
}  // namespace kv

namespace kv::reports {

struct ExplorerSteps;
struct ExplorerTrace;

struct TellingCache {
  std::size_t cell = 0;  // index in ReplayResult::cells
  std::size_t unit = 0;  // index in CellResult::residency
};

// The first cache of those in which a reader sees most: a policy's scores, or else tokens evicted
// before older ones, or else any evicted tokens. Of each cell only the units that have steps are
// looked at, or its first if none has, because there may be thousands. `own` may be null. If no
// cell has its residency recorded, this is the first cell.
TellingCache telling_cache(const ReplayResult& result, const ExplorerTrace* own);

// The steps of a unit of a cell; null if there are none, or `own` is null.
const ExplorerSteps* steps_of(const ExplorerTrace* own, std::size_t cell, const Residency& unit);

}  // namespace kv::reports

// Queries rotated so that stored keys need not be.
//
// A key at position p was rotated by p when it was stored. With positions=in-cache it should stand
// at its rank r, and only the angle between key and query counts: a query of rank n - 1 that is
// rotated by n - 1 - r + p forms the same angle. p - r is constant over a run of neighbouring
// residents, so each run takes one rotation of the query, and no key is touched.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/storage/key_storage.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv::model {

// Queries of several tokens that follow each other: `heads` neighbouring query heads of each.
struct QueryBlock {
  const float* first = nullptr;  // the first token's first head, before rotation
  std::size_t stride = 0;        // numbers from one token to the next
  std::size_t tokens = 1;
  std::size_t heads = 0;
  std::size_t before_last =
      0;  // how far the first token stands before the one that was planned for
};

class QueryRotation {
 public:
  // `rope` outlives it.
  QueryRotation(RopeCache& rope, std::size_t head_dim, RotationRules rules);

  // Plans for the query at that position: which runs of its visible set share a rotation, and
  // which. `hidden`: how many ranks before the visible ones a window hides. Requires keys that are
  // not rotated at_read.
  void plan(const Visible& visible, Position query, std::size_t hidden = 0);

  // The queries rotated for each run of the plan: [tokens, heads, head_dim] per run. Tokens before
  // the planned one are rotated by as many positions less. Holds until the next call.
  std::span<const QueryRun> rotate(const QueryBlock& block);

 private:
  void add_run(std::size_t count, Position rotate);

  RopeCache& rope_;
  std::size_t dim_;
  RotationRules rules_;
  std::vector<QueryRun> runs_;
  std::vector<Position> rotations_;  // [runs]
  std::vector<float> rotated_;       // [runs, tokens, heads, head_dim]
};

}  // namespace kv::model

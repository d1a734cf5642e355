// Keys shifted in place: a stored key is rotated for its rank, and when residents before it are
// evicted it is rotated back by as many positions. Sinks keep their ranks, so they never move.
//
// In exact arithmetic the result is that of in-cache positions, which touch no key; here every
// shift rounds the key to its storage once more. docs/model.md says how far that drifts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/model/storage/kv_store.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {

class KeyShift {
 public:
  // Radians per position [rope.dims / 2]. `in_f16`: by f16 angles, with complex multiplications
  // (model/rotation/rotate_kernels.h); only for stores of f16.
  KeyShift(const Rope& rope, std::vector<double> frequencies, bool in_f16);

  // Makes the key in slots[r] stand at r, for all r. places[slot] is where it stands, and is kept
  // up to date; none stands before its rank. Cost: O(slots) where nothing moves.
  void close_gaps(KvStore& store, std::span<const Slot> slots, std::span<Position> places);

 private:
  struct Step {
    std::vector<float> cosines;
    std::vector<float> sines;
    std::vector<std::uint16_t> halves;  // each cosine with its sine
  };

  const Step& step_back(Position positions);
  void rotate(KvStore& store, std::span<const Slot> slots, const Step& step);

  Rope rope_;
  std::vector<double> frequencies_;
  bool in_f16_;
  std::vector<float> key_;  // one that is not rotated in place, widened
  std::map<Position, Step> steps_;
};

}  // namespace kv::model

#include "kvcheck/base/random/draws.h"

namespace kv {

void CounterDraws::make_run(Position position) {
  // A run costs more than one draw, so it is computed only for positions that follow each other.
  const bool follows = run_size_ > 0 && position == run_begin_ + run_size_;
  run_begin_ = position;
  if (follows) {
    run_ = rng_.bits_of_run(position);
    run_size_ = run_of_positions;
  } else {
    run_[0] = rng_.bits(position);
    run_size_ = 1;
  }
}

}  // namespace kv

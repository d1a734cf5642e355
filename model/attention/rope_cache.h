// Cosines and sines of the positions that a bounded cache uses, however long the stream is.
//
// Position p is kept in row p mod rows until another position needs that row, so neighbouring
// positions never displace each other. Where positions displace each other all the same, as those
// of scattered residents do, the rows double, up to a limit. Memory therefore does not grow with
// the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvcheck/sim/cache/rope.h"

namespace kv::model {

class RopeCache {
 public:
  // `frequencies`: the rotation per position, in radians, of each pair of `rope`.
  RopeCache(const Rope& rope, std::vector<double> frequencies);

  // Makes room for that many positions at a time, at least; never shrinks.
  void reserve(std::size_t positions);

  // As RopeTable::rotate, with the same bits, at any position. Cost: that of a table, or of `pairs`
  // sines where the position is not there.
  void rotate(const float* in, std::size_t head_dim, Position position, float* out);

  // Positions that there is room for.
  [[nodiscard]] std::size_t rows() const { return held_.size(); }

  // What rows grow to by themselves at most; reserve() has no limit.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20U;

 private:
  // Doubles the rows if positions have displaced each other often.
  void make_room();

  Rope rope_;
  std::vector<double> frequencies_;  // [pairs]
  std::vector<std::uint64_t> held_;  // [rows]: the row's position + 1; 0: none
  std::vector<float> cosines_;       // [rows, pairs]
  std::vector<float> sines_;         // [rows, pairs]
  // Since it was last decided whether rows should double:
  std::size_t lookups_ = 0;
  std::size_t displaced_ = 0;  // lookups that took the row of another position
};

}  // namespace kv::model

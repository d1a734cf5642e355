// Rotary position embedding rotates pairs of a head's dimensions by an angle proportional to the
// position.
//
// Source: Su et al., "RoFormer", arXiv:2104.09864, section 3.4.2. Both common layouts are
// implemented: pairs of neighbours (the paper, llama2.c) and of halves (GPT-NeoX and Hugging Face's
// Llama).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The number of pairs of a head's dimensions that are rotated.
std::size_t pairs_of(const Rope& rope);

// The frequency of each pair: its angle per position, in radians.
std::vector<double> plain_frequencies(const Rope& rope);

// The cosine and sine of one pair's angle; computed in double, rounded to f32.
void rope_angle(double frequency, Position position, float& cosine, float& sine);

// Rotates the vector of one head by one angle per pair: in and out [head_dim], not overlapping.
// Dimensions without a pair are copied.
void rotate_pairs(const Rope& rope,
                  std::span<const float> cosines,
                  const float* sines,
                  const float* in,
                  std::size_t head_dim,
                  float* out);

// Cosines and sines for the positions 0 to positions - 1.
class RopeTable {
 public:
  RopeTable(const Rope& rope, std::size_t positions);

  // The same with frequencies of the caller, in radians per position: one per pair of `rope`.
  RopeTable(const Rope& rope, std::vector<double> frequencies, std::size_t positions);

  // Extends the table to at least that many positions.
  void grow(std::size_t positions);

  // Rotates the vector of one head to `position`: in and out [head_dim], not overlapping. Without
  // rotation (RopeLayout::none) it copies. Requires position < positions.
  void rotate(const float* in, std::size_t head_dim, Position position, float* out) const;

  // The same backwards, from `position`.
  void rotate_back(const float* in, std::size_t head_dim, Position position, float* out) const;

 private:
  Rope rope_;
  std::size_t pairs_;
  std::size_t positions_ = 0;
  std::vector<double> frequencies_;  // [pairs]
  std::vector<float> cosines_;       // [positions, pairs]
  std::vector<float> sines_;         // [positions, pairs]
};

}  // namespace kv

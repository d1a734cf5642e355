// Rotary position embedding: pairs of a head's dimensions turn by an angle proportional to
// position.
//
// Source: Su et al., "RoFormer", arXiv:2104.09864, section 3.4.2. Both layouts in use are built:
// pairs of neighbours (the paper, llama2.c) and of halves (GPT-NeoX and Hugging Face's Llama).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// How many pairs of a head's dimensions turn.
std::size_t pairs_of(const Rope& rope);

// The turns per position, in radians, one per pair.
std::vector<double> plain_frequencies(const Rope& rope);

// The angle of one pair, given its turn per position; computed in double, rounded to f32.
void rope_angle(double frequency, Position position, float& cosine, float& sine);

// Turns the vector of one head by one angle per pair: in and out [head_dim], out of place. What has
// no pair is copied.
void rotate_pairs(const Rope& rope,
                  std::span<const float> cosines,
                  const float* sines,
                  const float* in,
                  std::size_t head_dim,
                  float* out);

// Cosines and sines for positions 0 ... positions - 1.
class RopeTable {
 public:
  RopeTable(const Rope& rope, std::size_t positions);

  // The same with turns per position, in radians, of the caller's: one per pair of `rope`.
  RopeTable(const Rope& rope, std::vector<double> frequencies, std::size_t positions);

  // Makes the table serve at least that many positions.
  void grow(std::size_t positions);

  // Turns the vector of one head as if it stood at `position`: in and out [head_dim], out of place.
  // Without rotation (RopeLayout::none) it copies. Requires position < positions.
  void rotate(const float* in, std::size_t head_dim, Position position, float* out) const;

 private:
  Rope rope_;
  std::size_t pairs_;
  std::size_t positions_ = 0;
  std::vector<double> frequencies_;  // [pairs]
  std::vector<float> cosines_;       // [positions, pairs]
  std::vector<float> sines_;         // [positions, pairs]
};

}  // namespace kv

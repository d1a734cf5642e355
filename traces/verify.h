// The full pass over a trace's numbers, which opening it does not do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct VerifyResult {
  std::uint64_t numbers = 0;   // that were checked
  std::uint64_t rows = 0;      // attention rows; 0 for kind qkv
  double worst_row = 0;        // the largest |sum - 1| of a row; of rows with a sink, sum - 1
  double worst_tolerance = 0;  // row_tolerance of that row
  float smallest = 0;          // of all numbers
  float largest = 0;

  bool operator==(const VerifyResult&) const = default;
};

// How far from 1 the sum of a row of n probabilities may be if the row is correct in exact
// arithmetic.
//
// Storing moves each entry p by at most u p + s: u is half the spacing of the type's numbers at 1,
// s half its smallest number. As the p sum to 1, the sum moves by at most u + n s. In addition, a
// softmax in f32 divides by a sum with a relative error of at most n 2^-24, and our own sum adds at
// most the same error again. The constant 8 allows for a few more roundings.
//   f32: (n + 8) 2^-23    f16: that + 2^-11 + n 2^-25    bf16: that + 2^-8
double row_tolerance(Number number, std::size_t n);

// Checks every number: all are finite; token ids are not negative; attention is not negative, is 0
// above the diagonal (key > query), and its rows sum to 1 within row_tolerance, or to no more if
// they have learned sinks. The error names the
// first wrong place (layer, head, query and key), what was found there and what was expected.
Result<VerifyResult> verify(const Trace& trace);

}  // namespace kv

// What the rows of a cache of tensors are.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/base/number.h"

namespace kv::properties {

struct TensorFormat {
  std::size_t head_dim = 64;  // numbers in a key: even, at least 16
  std::size_t value_dim = 0;  // in a value: at least 8; 0: as many as in a key
  Number type = Number::f32;  // of keys and values
  bool interleaved = false;   // rotary pairs are (2 i, 2 i + 1), not (i, i + head_dim / 2)
  bool raw_keys = false;      // keys come before rotation: the cache rotates what it returns
  double theta = 10000;       // pair i rotates by theta^(-2 i / head_dim) radians a position
};

// What is wrong with it, as a sentence; empty: nothing.
std::string wrong_format(const TensorFormat& format);

}  // namespace kv::properties

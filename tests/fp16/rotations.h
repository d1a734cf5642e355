// What rotates rows of f16 keys, or should: the kernel under test, its emulation, and wrong ones
// that the comparisons have to find.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kvcheck/model/rotation/rotate_kernels.h"
#include "kvcheck/tests/fp16/exact.h"

namespace kv::fp16 {

// As RotateKernels::rotate_f16.
using Rotate = std::function<void(const model::RotatedRows&, const std::uint16_t*)>;

// The scalar kernel, which is the emulation of the instruction.
Rotate emulation();

Rotate rotation_by(Arithmetic arithmetic);

// The numbers of a pair within a row of f16.
struct PairAt {
  std::size_t real;
  std::size_t imaginary;
};

PairAt pair_at(RopeLayout layout, std::size_t pairs, std::size_t pair);

struct WrongRotation {
  std::string name;
  Rotate rotate;
};

// `right` with its faults: the operands of its own multiplication exchanged, a last pair left out,
// a byte too many written, a row rotated twice. And every wrong arithmetic.
std::vector<WrongRotation> wrong_rotations(const Rotate& right);

}  // namespace kv::fp16

// The tables behind model/rotation/rotate_kernels.h.
#pragma once

#include "kvcheck/base/kernels/kernel_tables.h"
#include "kvcheck/model/rotation/rotate_kernels.h"

namespace kv::model {

extern const RotateKernels scalar_rotate_kernels;
extern const RotateKernels avx512_rotate_kernels;

// Replaces the entries of `table` for which there is a form for the target.
void put_highway_rotate(Target target, RotateKernels& table);

// Only where the machine has AVX512-FP16.
void rotate_f16_by_avx512_fp16(const RotatedRows& rows, const std::uint16_t* rotations);

}  // namespace kv::model

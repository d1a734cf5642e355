// The tables that the sources of these kernels define, and the size of their blocks.
#pragma once

#include "kvcheck/base/kernels/block_kernels.h"
#include "kvcheck/base/kernels/kernels_detail.h"

namespace kv {

// Rows that all vectors meet before the next ones are read: 32 rows of 128 numbers fit into a
// first-level cache.
inline constexpr std::size_t rows_at_a_time = 32;

extern const BlockKernels scalar_block_kernels;
extern const BlockKernels avx512_block_kernels;

// Replaces the entries of `table` for which there is a form for the target.
void put_highway_blocks(Target target, BlockKernels& table);

}  // namespace kv

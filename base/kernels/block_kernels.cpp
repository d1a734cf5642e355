#include "kvcheck/base/kernels/block_kernels.h"

#include "kvcheck/base/kernels/block_kernels_detail.h"

namespace kv {
namespace {

const KernelTables<BlockKernels>& tables() {
  static const KernelTables<BlockKernels> made(KV_TABLE_OF_X86(avx512_block_kernels),
                                               put_highway_blocks, scalar_block_kernels);
  return made;
}

}  // namespace

std::span<const BlockKernels* const> supported_block_kernels() {
  return tables().all();
}

const BlockKernels& block_kernels() {
  static const BlockKernels& selected = tables().named(kernels().name);
  return selected;
}

}  // namespace kv

#include "kvcheck/model/kernels/attend_kernels.h"

#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

const KernelTables<AttendKernels>& tables() {
  static const KernelTables<AttendKernels> made(KV_TABLE_OF_X86(avx512_attend_kernels),
                                                put_highway_attend, scalar_attend_kernels);
  return made;
}

}  // namespace

std::span<const AttendKernels* const> supported_attend_kernels() {
  return tables().all();
}

const AttendKernels& attend_kernels() {
  static const AttendKernels& selected = tables().named(kernels().name);
  return selected;
}

}  // namespace kv::model

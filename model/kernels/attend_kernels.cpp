#include "kvcheck/model/kernels/attend_kernels.h"

#include <array>

#include "kvcheck/model/kernels/attend_kernels_detail.h"

namespace kv::model {

std::span<const AttendKernels* const> supported_attend_kernels() {
  static const std::array<const AttendKernels*, 2> tables = {&avx512_attend_kernels,
                                                             &scalar_attend_kernels};
  const bool all = supported_kernels().front()->name == avx512_attend_kernels.name;
  return std::span(tables).subspan(all ? 0 : 1);
}

const AttendKernels& attend_kernels() {
  const bool best = kernels().name == avx512_attend_kernels.name;
  return best ? avx512_attend_kernels : scalar_attend_kernels;
}

}  // namespace kv::model

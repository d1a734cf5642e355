// The tables behind model/kernels/attend_kernels.h.
#pragma once

#include "kvcheck/model/kernels/attend_kernels.h"

namespace kv::model {

extern const AttendKernels scalar_attend_kernels;
extern const AttendKernels avx512_attend_kernels;

}  // namespace kv::model

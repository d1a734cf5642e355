// The tables behind model/model_kernels.h.
#pragma once

#include "model/model_kernels.h"

namespace kv {

extern const ModelKernels scalar_model_kernels;
extern const ModelKernels avx512_model_kernels;

}  // namespace kv

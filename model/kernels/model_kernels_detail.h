// The tables behind model/kernels/model_kernels.h.
#pragma once

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {

extern const ModelKernels scalar_model_kernels;
extern const ModelKernels avx512_model_kernels;

// ModelKernels::multiply_quantised of avx512_model_kernels.
void multiply_quantised_avx512(const QuantisedRows& weights,
                               const float* x,
                               std::size_t tokens,
                               std::size_t stride,
                               float* out);

}  // namespace kv::model

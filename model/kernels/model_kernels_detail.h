// The tables behind model/kernels/model_kernels.h and model/kernels/attend_kernels.h.
#pragma once

#include "kvcheck/base/kernels/kernel_tables.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {

extern const ModelKernels scalar_model_kernels;
extern const ModelKernels avx512_model_kernels;

// Replace the entries of `table`: put_highway_quantised multiply_quantised, put_highway_model all.
void put_highway_model(Target target, ModelKernels& table);
void put_highway_quantised(Target target, ModelKernels& table);

// Room for n floats, which this thread may use until it calls this again. Sources for an
// instruction set leave no functions to the linker, so they may not own a std::vector.
float* scratch_floats(std::size_t n);

// ModelKernels::multiply_quantised of avx512_model_kernels.
void multiply_quantised_avx512(const QuantisedRows& weights,
                               const float* x,
                               std::size_t tokens,
                               std::size_t stride,
                               float* out);

extern const AttendKernels scalar_attend_kernels;
extern const AttendKernels avx512_attend_kernels;

// Replaces the entries of `table`.
void put_highway_attend(Target target, AttendKernels& table);

}  // namespace kv::model

// Vectors written as f32, f16 or bf16, and widened again; logits with a soft cap.
#pragma once

#include <cstddef>
#include <span>

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {

// Requires a storage that is no int8.
void write_numbers(std::span<const float> values, Storage storage, std::byte* row);
void read_numbers(const std::byte* row, Storage storage, std::span<float> out);

// Each logit x becomes cap * tanh(x / cap), computed in double; nothing happens if the cap is 0.
void cap_logits(double cap, std::span<float> logits);

}  // namespace kv::model

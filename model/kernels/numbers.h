// Vectors written as f32, f16 or bf16, and widened again; logits with a soft cap.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {

// Requires a storage that is no int8.
void write_numbers(std::span<const float> values, Storage storage, std::byte* row);
void read_numbers(const std::byte* row, Storage storage, std::span<float> out);

// The first finite value that write_numbers() made infinite in the row; usually there is none.
// Requires f32, f16 or bf16. Cost: a few operations per eight bytes.
std::optional<float> too_large_for(std::span<const float> values,
                                   Storage storage,
                                   const std::byte* row);

// Each logit x becomes cap * tanh(x / cap), computed in double; nothing happens if the cap is 0.
void cap_logits(double cap, std::span<float> logits);

}  // namespace kv::model

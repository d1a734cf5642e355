#pragma once
#include <cstddef>
#include "base/kernels.h"
namespace kv {
inline float row_tolerance(Number number, std::size_t) { return number == Number::f32 ? 1e-4F : 4e-3F; }
}  // namespace kv

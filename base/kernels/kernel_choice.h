// Checks the environment variable KV_KERNEL.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv {

// Returns an error if KV_KERNEL is set but names no kernels, or kernels that this machine cannot
// run. Programs call it before they measure anything, because kernels() itself falls back to the
// best.
Result<void> check_kernel_choice();

// The selected kernels, and what else KV_KERNEL may ask for here: "avx2 (this machine also runs
// sse4, scalar)".
std::string selected_kernels();

}  // namespace kv

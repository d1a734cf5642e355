// Checks the environment variable KV_KERNEL.
#pragma once

#include "kvcheck/base/error.h"

namespace kv {

// Returns an error if KV_KERNEL is set but names no kernels, or kernels that this machine cannot
// run. Programs call it before they measure anything, because kernels() itself falls back to the
// best.
Result<void> check_kernel_choice();

}  // namespace kv

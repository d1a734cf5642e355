// What the environment says about kernels, checked.
#pragma once

#include "kvcheck/base/error.h"

namespace kv {

// An error if KV_KERNEL is set but names no kernels, or some that this machine lacks, so that no
// program measures what it was not asked for. kernels() itself takes the best then.
Result<void> check_kernel_choice();

}  // namespace kv

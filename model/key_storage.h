// How a decoder stores keys.
#pragma once

#include "base/error.h"
#include "base/kernels.h"
#include "model/config.h"
#include "sim/spec.h"

namespace kv {

enum class KeyStorage {
  rotated,      // for their position in the stream
  raw,          // before rotation
  shifted,      // for their rank, turned back when it falls; with in-cache positions only
  shifted_f16,  // the same in f16 arithmetic, with f16 storage only
};

// Whether such keys can be stored under the spec. Errors: shifted ones without rotation, with
// absolute positions, or in another storage.
Result<void> check_keys(const ModelConfig& config,
                        const Spec& spec,
                        Number number,
                        KeyStorage keys);

}  // namespace kv

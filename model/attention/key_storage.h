// How a decoder stores keys.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/model/attention/kv_format.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {

enum class KeyStorage {
  rotated,      // for their position: in the stream, or their rank with positions=shifted
  raw,          // before rotation
  rotated_f16,  // rotated, and shifted in f16 arithmetic; with positions=shifted and f16 storage
};

// Whether such keys can be stored under the spec. Errors: keys to be shifted that carry no rotation
// or are raw; f16 arithmetic where nothing is shifted, or in another storage.
Result<void> check_keys(const ModelConfig& config,
                        const Spec& spec,
                        const KvFormat& format,
                        KeyStorage keys);

}  // namespace kv::model

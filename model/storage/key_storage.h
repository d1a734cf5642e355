// How a decoder stores keys: the user's choice, and what follows from it for rotation.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/sim/spec/kv_format.h"

namespace kv {
struct Spec;
}  // namespace kv

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

// When a key is rotated, and for which position.
enum class KeyRotation {
  none,         // never: the model has no rotary positions
  at_position,  // when it is stored, for its position in the stream
  at_rank,      // when it is stored, for its rank; again whenever a gap before it closes
  at_read,      // whenever a query attends to it
};

// The rotary positions of one cache.
struct RotationRules {
  KeyRotation keys = KeyRotation::none;
  bool ranks =
      false;  // queries and keys meet at their ranks, else at their positions in the stream
};

// Of layers that rotate by `rope`.
RotationRules rotation_rules(const Rope& rope, const Spec& spec, KeyStorage keys);

}  // namespace kv::model

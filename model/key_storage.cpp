#include "model/key_storage.h"

namespace kv {

Result<void> check_keys(const ModelConfig& config,
                        const Spec& spec,
                        Number number,
                        KeyStorage keys) {
  if (keys < KeyStorage::shifted) return {};
  if (config.rope.layout == RopeLayout::none) {
    return usage_error(
        "shifted keys are turned again, and this model's carry no rotation; expected rotated keys");
  }
  if (spec.positions != Positions::in_cache) {
    return usage_error("shifted keys stand at their ranks, and '" + spec.canonical() +
                       "' attends at absolute positions; expected positions=in-cache");
  }
  if (keys == KeyStorage::shifted_f16 && number != Number::f16) {
    return usage_error("shifted-f16 turns keys of f16; expected f16 as storage");
  }
  return {};
}

}  // namespace kv

#include "kvcheck/model/attention/key_storage.h"

namespace kv::model {

Result<void> check_keys(const ModelConfig& config,
                        const Spec& spec,
                        const KvFormat& format,
                        KeyStorage keys) {
  const bool shifted = spec.positions == Positions::shifted;
  if (shifted && config.rope.layout == RopeLayout::none) {
    return usage_error(
        "positions=shifted turns stored keys, and this model's carry no rotation; expected "
        "positions=in-cache");
  }
  if (shifted && keys == KeyStorage::raw) {
    return usage_error(
        "positions=shifted turns stored keys, and raw ones carry no rotation; expected rotated "
        "keys, or positions=in-cache");
  }
  if (keys != KeyStorage::rotated_f16) return {};
  if (!shifted) {
    return usage_error("rotated-f16 is about how keys are shifted, and '" + spec.label() +
                       "' shifts none; expected positions=shifted");
  }
  if (format != KvFormat(Storage::f16)) {
    return usage_error("rotated-f16 turns keys of f16; expected f16 as storage");
  }
  return {};
}

}  // namespace kv::model

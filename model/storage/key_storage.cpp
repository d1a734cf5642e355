#include "kvcheck/model/storage/key_storage.h"

#include "kvcheck/sim/spec/spec.h"

namespace kv::model {
namespace {

KeyRotation key_rotation(const Rope& rope, const Spec& spec, KeyStorage keys) {
  if (rope.layout == RopeLayout::none) return KeyRotation::none;
  if (keys == KeyStorage::raw) return KeyRotation::at_read;
  // Keys that are evaluated again are rotated for their new ranks then, so none is ever shifted:
  // every trim is followed by an evaluation before anything attends.
  const bool by_rank =
      spec.positions == Positions::shifted || spec.vectors == Vectors::re_evaluated;
  return by_rank ? KeyRotation::at_rank : KeyRotation::at_position;
}

}  // namespace

Result<void> check_keys(const ModelConfig& config,
                        const Spec& spec,
                        const KvFormat& format,
                        KeyStorage keys) {
  const bool shifted = spec.positions == Positions::shifted;
  if (shifted && config.rope.layout == RopeLayout::none) {
    return usage_error(
        "positions=shifted rotates stored keys, and this model's carry no rotation; expected "
        "positions=in-cache");
  }
  if (shifted && keys == KeyStorage::raw) {
    return usage_error(
        "positions=shifted rotates stored keys, and raw ones carry no rotation; expected rotated "
        "keys, or positions=in-cache");
  }
  if (keys != KeyStorage::rotated_f16) return {};
  if (!shifted) {
    return usage_error("rotated-f16 is about how keys are shifted, and '" + spec.label() +
                       "' shifts none; expected positions=shifted");
  }
  if (format != KvFormat(Number::f16)) {
    return usage_error("rotated-f16 rotates keys of f16; expected f16 as storage");
  }
  return {};
}

RotationRules rotation_rules(const Rope& rope, const Spec& spec, KeyStorage keys) {
  return {.keys = key_rotation(rope, spec, keys), .ranks = are_ranks(spec.positions)};
}

}  // namespace kv::model

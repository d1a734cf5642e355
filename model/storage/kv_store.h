// The vectors of one kv-head's residents, each in the slot that the cache gave it.
//
// Where the newest or the first tokens are stored in another way than the rest
// (sim/spec/kv_format.h), a token is put in full precision, and settle() quantises it once
// it is no longer among the newest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/position.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/model/rotation/rotate_kernels.h"
#include "kvcheck/model/storage/tiered_rows.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/kv_format.h"

namespace kv::model {

// The rows that kernels read of a format. Requires format.direct().
constexpr Storage rows_of(const KvFormat& format) {
  return format.codes == KvCodes::none ? static_cast<Storage>(format.full) : Storage::int8;
}

class KvStore {
 public:
  KvStore(const KvFormat& format, std::size_t dim);

  // Makes room for slots below `slots`; tiers make their own.
  void reserve(std::size_t slots);

  // Rounds both vectors [dim] to the store's numbers: int8 to the nearest of 255 steps from minus
  // to plus the largest, so by at most half a step each. Where the format has tiers, both are put
  // in full precision. Requires room for the slot.
  void put(Slot slot, const float* key, const float* value);

  // What could not be stored: the first number that is too large for the format, or, in int8, that
  // is not finite. In other formats what is not finite is stored as such.
  struct Unfit {
    bool of_key = false;
    float number = 0;
  };

  [[nodiscard]] std::optional<Unfit> unfit() const;

  // Quantises the tokens that are not among the newest any more when the token at `query` attends.
  // `visible` is what it sees, in these slots. Once for every query, in stream order.
  void settle(Position query, const Visible& visible, std::span<const Slot> slots);

  // Whether nothing is quantised between the queries of a chunk, so that all of them read the same
  // numbers.
  [[nodiscard]] bool settles_at_once() const {
    return format_.direct() || (format_.recent == 0 && !format_.groups_tokens());
  }

  // Whether kernels read what is stored, by keys() and values(); else rows are widened first.
  [[nodiscard]] bool direct() const { return format_.direct(); }

  [[nodiscard]] SlotRows keys(std::span<const Slot> slots) const {
    return {storage_, keys_.data(), dim_, slots.data(), slots.size(), key_scales_.data()};
  }

  [[nodiscard]] SlotRows values(std::span<const Slot> slots) const {
    return {storage_, values_.data(), dim_, slots.data(), slots.size(), value_scales_.data()};
  }

  // Whether keys can be rotated where they lie: they are numbers, not codes.
  [[nodiscard]] bool rotates_in_place() const { return direct() && storage_ != Storage::int8; }

  // The keys in those slots, to be rotated in place: layout and pairs are left open. Requires
  // rotates_in_place().
  [[nodiscard]] RotatedRows keys_to_rotate(std::span<const Slot> slots) {
    return {.rows = keys_.data(), .dim = dim_, .slots = slots.data(), .count = slots.size()};
  }

  // Of a direct store.
  [[nodiscard]] Storage storage() const { return storage_; }

  [[nodiscard]] const KvFormat& format() const { return format_; }

  [[nodiscard]] std::size_t dim() const { return dim_; }

  // The key or the value in a slot, widened to [dim].
  void key(Slot slot, float* out) const;
  void value(Slot slot, float* out) const;

  // Rounds a key again, in its tier.
  void put_key(Slot slot, const float* key);

  // Bytes of the most rows that were held at once; room that no row has used yet is not counted.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::size_t row_bytes() const { return dim_ * bytes_of(storage_); }

  KvFormat format_;
  Storage storage_;
  std::size_t dim_;
  std::size_t used_ = 0;  // the most slots that room was asked for
  AlignedBytes keys_;
  AlignedBytes values_;
  std::vector<float> key_scales_;  // by slot; of int8 only
  std::vector<float> value_scales_;
  std::optional<TieredRows> tiered_keys_;
  std::optional<TieredRows> tiered_values_;
  Position keys_from_;  // keys and values before these are quantised, except the sinks
  Position values_from_;
  std::vector<Slot> lowered_;
  std::optional<Unfit> unfit_;  // of a direct store
};

}  // namespace kv::model

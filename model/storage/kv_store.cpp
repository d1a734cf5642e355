#include "kvcheck/model/storage/kv_store.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kvcheck/base/check.h"
#include "kvcheck/model/kernels/numbers.h"

namespace kv::model {
namespace {

// Returns the scale: NaN if some value is not finite, as no code stands for it.
float write_int8(std::span<const float> values, std::byte* row) {
  constexpr float largest = std::numeric_limits<float>::max();
  float most = 0;
  bool finite = true;
  for (const float value : values) {
    finite = finite && std::abs(value) <= largest;
    most = std::max(most, std::abs(value));
  }
  if (!finite) {
    std::ranges::fill(row, row + values.size(), std::byte{0});
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float scale = most / 127;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float steps = scale > 0 ? std::nearbyint(values[i] / scale) : 0;
    row[i] = static_cast<std::byte>(static_cast<std::int8_t>(std::clamp(steps, -127.0F, 127.0F)));
  }
  return scale;
}

// Returns a number that could not be stored.
std::optional<float> write(std::span<const float> values,
                           Storage storage,
                           std::byte* row,
                           float* scale) {
  if (storage != Storage::int8) {
    write_numbers(values, storage, row);
    return too_large_for(values, storage, row);
  }
  *scale = write_int8(values, row);
  if (!std::isnan(*scale)) return {};
  return *std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
}

void read(const std::byte* row, Storage storage, const float* scale, std::span<float> out) {
  if (storage != Storage::int8) {
    read_numbers(row, storage, out);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<std::int8_t>(row[i])) * *scale;
  }
}

// The slot's scale; null where rows have none.
template <typename Scales>
auto scale_at(Scales& scales, Slot slot) {
  return scales.empty() ? nullptr : scales.data() + slot;
}

// The rank of a position among what is visible, if it is.
std::optional<std::size_t> rank_of(Position position, const Visible& visible) {
  const auto in = [position](Run run) { return run.first <= position && position < run.last; };
  const std::size_t sinks = visible.sinks.size();
  if (in(visible.sinks)) return position - visible.sinks.first;
  if (in(visible.recent)) return sinks + visible.middle.size() + position - visible.recent.first;
  const auto found = std::ranges::lower_bound(visible.middle, position);
  if (found == visible.middle.end() || *found != position) return std::nullopt;
  return sinks + static_cast<std::size_t>(found - visible.middle.begin());
}

}  // namespace

KvStore::KvStore(const KvFormat& format, std::size_t dim)
    : format_(format),
      storage_(format.direct() ? rows_of(format) : static_cast<Storage>(format.full)),
      dim_(dim),
      keys_from_(format.sinks),
      values_from_(format.sinks) {
  if (format.direct()) return;
  tiered_keys_.emplace(format, format.groups_tokens(), dim);
  tiered_values_.emplace(format, false, dim);
}

void KvStore::reserve(std::size_t slots) {
  if (!direct()) return;
  used_ = std::max(used_, slots);
  const std::size_t bytes = slots * row_bytes();
  if (bytes <= keys_.size()) return;
  // A cache of constant size gets exactly what it needs; one that grows, half as much again each
  // time, so that copies stay linear in the stream.
  const std::size_t grown = keys_.empty() ? bytes : std::max(bytes, keys_.size() * 3 / 2);
  const std::size_t rows = (grown + row_bytes() - 1) / row_bytes();
  // reserve() first: resize() alone may double.
  for (AlignedBytes* rows_of : {&keys_, &values_}) {
    rows_of->reserve(rows * row_bytes());
    rows_of->resize(rows * row_bytes());
  }
  if (storage_ != Storage::int8) return;
  key_scales_.resize(rows);
  value_scales_.resize(rows);
}

void KvStore::put(Slot slot, const float* key, const float* value) {
  if (!direct()) {
    tiered_keys_->put(slot, key);
    tiered_values_->put(slot, value);
    if (format_.has_tiers()) return;
    const std::span<const Slot> only(&slot, 1);
    tiered_keys_->lower(only);
    tiered_values_->lower(only);
    return;
  }
  put_key(slot, key);
  const auto lost = write({value, dim_}, storage_, values_.data() + slot * row_bytes(),
                          scale_at(value_scales_, slot));
  if (lost && !unfit_) unfit_ = Unfit{.of_key = false, .number = *lost};
}

void KvStore::put_key(Slot slot, const float* key) {
  if (!direct()) {
    tiered_keys_->replace(slot, key);
    return;
  }
  KV_CHECK((slot + 1) * row_bytes() <= keys_.size());
  const auto lost =
      write({key, dim_}, storage_, keys_.data() + slot * row_bytes(), scale_at(key_scales_, slot));
  if (lost && !unfit_) unfit_ = Unfit{.of_key = true, .number = *lost};
}

std::optional<KvStore::Unfit> KvStore::unfit() const {
  if (direct()) return unfit_;
  if (const auto key = tiered_keys_->too_large()) return Unfit{.of_key = true, .number = *key};
  const auto value = tiered_values_->too_large();
  return value ? std::optional(Unfit{.of_key = false, .number = *value}) : std::nullopt;
}

void KvStore::settle(Position query, const Visible& visible, std::span<const Slot> slots) {
  if (!format_.has_tiers()) return;
  const auto lower = [&](TieredRows& rows, Position first, Position last) {
    lowered_.clear();
    for (Position position = first; position < last; ++position) {
      // A token that was evicted in the meantime is not visible, and needs no codes.
      if (const auto rank = rank_of(position, visible)) lowered_.push_back(slots[*rank]);
    }
    rows.lower(lowered_);
  };
  const auto newest = static_cast<std::uint64_t>(query) + 1;
  const std::uint64_t old = newest > format_.recent ? newest - format_.recent : 0;
  // KIVI quantises the keys of `group_size` tokens together, so they wait until the last of them is
  // old enough; values never wait, as each token's are quantised alone.
  const Position together = format_.groups_tokens() ? format_.group_size : 1;
  for (; std::uint64_t{keys_from_} + together <= old; keys_from_ += together) {
    lower(*tiered_keys_, keys_from_, keys_from_ + together);
  }
  for (; values_from_ < old; ++values_from_) {
    lower(*tiered_values_, values_from_, values_from_ + 1);
  }
}

void KvStore::key(Slot slot, float* out) const {
  if (!direct()) return tiered_keys_->read(slot, out);
  read(keys_.data() + slot * row_bytes(), storage_, scale_at(key_scales_, slot), {out, dim_});
}

void KvStore::value(Slot slot, float* out) const {
  if (!direct()) return tiered_values_->read(slot, out);
  read(values_.data() + slot * row_bytes(), storage_, scale_at(value_scales_, slot), {out, dim_});
}

std::size_t KvStore::bytes() const {
  if (!direct()) return tiered_keys_->bytes() + tiered_values_->bytes();
  const std::size_t scale = storage_ == Storage::int8 ? sizeof(float) : 0;
  return 2 * used_ * (row_bytes() + scale);
}

}  // namespace kv::model

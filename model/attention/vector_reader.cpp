#include "kvcheck/model/attention/vector_reader.h"

namespace kv::model {

VectorReader::VectorReader(RopeCache& rope, std::size_t head_dim)
    : rope_(rope), dim_(head_dim), key_(head_dim) {}

KeysAndValues VectorReader::read(const KvStore& store, std::span<const Slot> slots) {
  if (store.direct()) return {store.keys(slots), store.values(slots)};
  return widened(store, slots);
}

KeysAndValues VectorReader::read_numbers(const KvStore& store, std::span<const Slot> slots) {
  if (store.rotates_in_place()) return {store.keys(slots), store.values(slots)};
  return widened(store, slots);
}

KeysAndValues VectorReader::widened(const KvStore& store, std::span<const Slot> slots) {
  keys_.resize(slots.size() * dim_);
  for (std::size_t i = 0; i < slots.size(); ++i) store.key(slots[i], keys_.data() + i * dim_);
  return {rows_of(keys_, slots.size()), widened_values(store, slots)};
}

KeysAndValues VectorReader::read_raw(const KvStore& store,
                                     std::span<const Slot> slots,
                                     const Visible& visible,
                                     bool ranks) {
  const std::size_t n = slots.size();
  keys_.resize(n * dim_);
  for (std::size_t rank = 0; rank < n; ++rank) {
    store.key(slots[rank], key_.data());
    const Position at = ranks ? static_cast<Position>(rank) : visible.position_of(rank);
    rope_.rotate(key_.data(), dim_, at, keys_.data() + rank * dim_);
  }
  const SlotRows keys = rows_of(keys_, n);
  // ModelKernels::weigh knows no scales, so int8 is widened here although attend_kernels reads it.
  if (store.rotates_in_place()) return {keys, store.values(slots)};
  return {keys, widened_values(store, slots)};
}

SlotRows VectorReader::widened_values(const KvStore& store, std::span<const Slot> slots) {
  values_.resize(slots.size() * dim_);
  for (std::size_t i = 0; i < slots.size(); ++i) store.value(slots[i], values_.data() + i * dim_);
  return rows_of(values_, slots.size());
}

SlotRows VectorReader::rows_of(const std::vector<float>& wide, std::size_t count) {
  while (identity_.size() < count) identity_.push_back(static_cast<Slot>(identity_.size()));
  return {Storage::f32, reinterpret_cast<const std::byte*>(wide.data()), dim_, identity_.data(),
          count};
}

}  // namespace kv::model

#include "kvcheck/sim/cache/slots.h"

#include <algorithm>

#include "kvcheck/base/check.h"

namespace kv {

void Slots::evict_middle(std::size_t index) {
  evicted_.push_back(middle_[index]);
  middle_.erase(middle_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Slots::mask_tail() {
  // Moved on at once, so that free_evicted() never frees the slot.
  evict_tail();
  masked_.push_back(evicted_.back());
  evicted_.pop_back();
}

void Slots::mask_middle(std::size_t index) {
  evict_middle(index);
  masked_.push_back(evicted_.back());
  evicted_.pop_back();
}

void Slots::free_evicted() {
  free_.insert(free_.end(), evicted_.begin(), evicted_.end());
  evicted_.clear();
}

Slot Slots::slot_of(std::size_t rank) const {
  if (rank < sinks_.size()) return sinks_[rank];
  rank -= sinks_.size();
  if (rank < middle_.size()) return middle_[rank];
  rank -= middle_.size();
  KV_CHECK(rank < tail_.size());
  return tail_[rank];
}

void Slots::save(ByteWriter& writer) const {
  writer.put(sinks_);
  writer.put(middle_);
  writer.put(std::vector<Slot>(tail_.begin(), tail_.end()));
  writer.put(evicted_);
  writer.put(masked_);
  writer.put(free_);
  writer.put(used_);
}

void Slots::load(ByteReader& reader) {
  std::vector<Slot> tail;
  reader.get(sinks_);
  reader.get(middle_);
  reader.get(tail);
  tail_.assign(tail.begin(), tail.end());
  reader.get(evicted_);
  reader.get(masked_);
  reader.get(free_);
  used_ = reader.get<Slot>();
}

void Slots::list(std::size_t count, std::vector<Slot>& into) const {
  into.clear();
  const auto append = [&](const auto& slots) {
    const std::size_t taken = std::min(slots.size(), count - into.size());
    into.insert(into.end(), slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(taken));
  };
  append(sinks_);
  append(middle_);
  append(tail_);
  KV_CHECK(into.size() == count);
}

}  // namespace kv

// Slots: which physical row each resident's key and value live in.
//
// Rows are named by slot. A new resident takes a freed slot if there is one, the next unused one
// else; it keeps the slot until it is evicted and its row is freed. So nothing is ever moved, and
// the number of slots ever used is the peak of stored rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "kvcheck/base/bytes.h"

namespace kv {

using Slot = std::uint32_t;

class Slots {
 public:
  // A new resident arrives, as a sink or at the end of the tail.
  void append_sink() { sinks_.push_back(take()); }

  void append_tail() { tail_.push_back(take()); }

  // The oldest resident of the tail becomes the newest of the middle.
  void tail_to_middle();

  // The oldest resident of the tail, or the middle resident of that index, is evicted.
  void evict_tail();
  void evict_middle(std::size_t index);

  // The same, but its row is never freed.
  void mask_tail();
  void mask_middle(std::size_t index);

  // Rows that are never freed.
  [[nodiscard]] std::size_t masked() const { return masked_.size(); }

  // The rows of evicted residents may be used again.
  void free_evicted();

  // Evicted residents whose rows are not free yet.
  [[nodiscard]] std::size_t unfreed() const { return evicted_.size(); }

  // The slot of the resident of a rank: sinks, then middle, then tail.
  [[nodiscard]] Slot slot_of(std::size_t rank) const;

  // The slots of the residents of ranks 0 to count - 1, in order. Cost: O(count).
  void list(std::size_t count, std::vector<Slot>& into) const;

  // Slots ever used; every slot is below it.
  [[nodiscard]] std::size_t used() const { return used_; }

  // The whole state as bytes, and back; mistakes show in ByteReader::finished.
  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  Slot take();

  std::vector<Slot> sinks_;
  std::vector<Slot> middle_;
  std::deque<Slot> tail_;
  std::vector<Slot> evicted_;
  std::vector<Slot> masked_;
  std::vector<Slot> free_;
  Slot used_ = 0;
};

}  // namespace kv

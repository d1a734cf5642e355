// Slots: the physical row in which each resident's key and value are stored.
//
// A slot is the number of a row. A new resident takes a freed slot if there is one, else the next
// unused slot, and keeps it until it is evicted and its row is freed. Rows are therefore never
// moved, and the number of slots ever used is the peak of stored rows.
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
  // Adds a new resident as a sink or at the end of the tail.
  void append_sink() { sinks_.push_back(take()); }

  void append_tail() { tail_.push_back(take()); }

  // Moves the oldest resident of the tail to the end of the middle.
  void tail_to_middle() {
    middle_.push_back(tail_.front());
    tail_.pop_front();
  }

  // Evicts the oldest resident of the tail, or the middle resident of that index.
  void evict_tail() {
    evicted_.push_back(tail_.front());
    tail_.pop_front();
  }

  void evict_middle(std::size_t index);

  // The same, but the row is never freed.
  void mask_tail();
  void mask_middle(std::size_t index);

  // The number of rows that are never freed.
  [[nodiscard]] std::size_t masked() const { return masked_.size(); }

  // Frees the rows of evicted residents, so that new residents may take them.
  void free_evicted();

  // The number of evicted residents whose rows are not free yet.
  [[nodiscard]] std::size_t unfreed() const { return evicted_.size(); }

  // The slot of the resident of that rank. Ranks count the sinks, then the middle, then the tail.
  [[nodiscard]] Slot slot_of(std::size_t rank) const;

  // The slots of the residents of ranks 0 to count - 1, in order. Cost: O(count).
  void list(std::size_t count, std::vector<Slot>& into) const;

  // The number of slots ever used; every slot is below it.
  [[nodiscard]] std::size_t used() const { return used_; }

  // Writes the whole state as bytes and reads it back. ByteReader::finished reports wrong bytes.
  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  // The functions for every token are defined here, because their calls cost as much as they do.
  Slot take() {
    if (free_.empty()) return used_++;
    // Any free slot would do; the last one is the cheapest to remove.
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }

  std::vector<Slot> sinks_;
  std::vector<Slot> middle_;
  std::deque<Slot> tail_;
  std::vector<Slot> evicted_;
  std::vector<Slot> masked_;
  std::vector<Slot> free_;
  Slot used_ = 0;
};

}  // namespace kv

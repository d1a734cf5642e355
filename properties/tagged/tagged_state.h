// What a tagged cache is made with, and all that it knows: values, so that forks are copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/reference/cache_unit.h"
#include "kvcheck/properties/stream.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// Where a new row is written.
enum class SlotOrder {
  in_order,     // at the end; gaps are closed
  by_score,     // at the end; once a gap closes, in the order of the scores
  lowest_free,  // the lowest slot that is free; nothing moves
  ring,         // sinks, then a ring: position p in slot sinks + (p - sinks) % ring size
};

struct TaggedOptions {
  std::string_view policy = "streaming";  // as in a spec, and one whose rule needs no memory but
                                          // rows and notes
  Timing timing = Timing::attend_then_trim;
  std::uint32_t slack = 0;  // of lazy
  Visibility visibility = Visibility::window;
  TopPages top_pages{};  // of visibility=top-pages
  PositionMode positions = PositionMode::absolute;
  Unit unit = Unit::kv_head;
  SlotOrder slots = SlotOrder::in_order;
  std::uint32_t page = 1;           // rows are freed by whole pages, the sinks' page never
  bool shows_pages = false;         // queries see all rows of a page that holds one to keep
  std::uint32_t longest_chunk = 0;  // 0: none is too long; a ring has this much room
  std::uint32_t first_chunk = 0;    // of an empty cache, as in a contract
  bool evicts_ahead = false;        // makes room for the next token at the end of each call
  Compress compress = Compress::always;
  std::uint32_t ratio = 0;     // of a prompt, in thousandths, as in a contract
  std::uint32_t rollback = 0;  // tokens that truncate takes back
  Precision precision = Precision::f32;
  std::uint32_t full_precision_recent = 0;  // with int8, int4: the last rows that are stored as fed
  bool full_precision_sinks = false;        // and the sinks
  PairLayout layout = PairLayout::half_split;
  bool shifts = false;        // moves positions when asked to; they must be absolute
  bool shares = false;        // the units of a layer share their budget by score
  std::uint32_t alpha = 500;  // then: what of its middle a unit is sure of, in thousandths
  bool borrows = false;       // later layers attend to the rows of earlier ones: owners_of()
  bool own_chance = false;    // draws from the setup's seed, not from the draws it is given

  [[nodiscard]] constexpr bool closes_gaps() const {
    return slots == SlotOrder::in_order || slots == SlotOrder::by_score;
  }
};

// For each of so many layers the one whose rows it attends to. The first half own theirs, and each
// layer of the second half reads the last of those whose number is as even or odd as its own: what
// models do whose layers alternate between two kinds.
std::vector<std::uint32_t> owners_of(std::uint32_t layers);

// The units as they were before a call, and what that call fed.
struct PastCall {
  std::vector<CacheUnit> units;
  std::uint64_t fed = 0;
  std::vector<Token> tokens;
  Stream stream;
};

struct TaggedState {
  std::vector<CacheUnit> units;
  std::uint64_t fed = 0;
  std::uint64_t prompt = 1;    // tokens of the first call
  std::vector<PastCall> past;  // the oldest first
};

// The state as bytes, but for its past; and back: false if the bytes are no such state with as
// many units and heads.
std::vector<std::uint8_t> save_state(const TaggedState& state);
bool load_state(std::span<const std::uint8_t> bytes, std::size_t heads, TaggedState& state);

// What a stored key and value say when they are read back. Codes of 4 bits hold no tag: theirs is
// what was fed, with the distance between both.
Row read_row(const StoredVectors& held, const TaggedOptions& options);

}  // namespace kv::properties

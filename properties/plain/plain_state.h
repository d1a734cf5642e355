// What a plain cache is made with, and all that it knows: values, so that forks are copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/properties/cases/payload.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/stream.h"
#include "kvcheck/properties/token.h"

namespace kv::properties {

// Who goes when the middle is over its capacity.
enum class PlainPolicy {
  keep_all,     // nobody, ever
  streaming,    // there is no middle: sinks and recent tokens only
  random,       // any older one, the newcomer always enters
  reservoir_r,  // Algorithm R
  reservoir_l,  // Algorithm L
  h2o,          // the least gathered attention
  h2o_by_age,   // the same per query
  tova,         // the least of the last query's attention
};

// Where a new row is written.
enum class PlainSlots {
  in_order,     // at the end; gaps are closed
  lowest_free,  // the lowest slot that is free; nothing moves
  ring,         // sinks, then a ring: position p in slot sinks + (p - sinks) % ring size
};

struct PlainOptions {
  PlainPolicy policy = PlainPolicy::streaming;
  Timing timing = Timing::attend_then_trim;
  std::uint32_t slack = 0;  // of lazy
  Visibility visibility = Visibility::window;
  TopPages top_pages{};  // of visibility=top-pages
  PositionMode positions = PositionMode::absolute;
  Unit unit = Unit::kv_head;
  PlainSlots slots = PlainSlots::in_order;
  std::uint32_t page = 1;           // rows are freed by whole pages, the sinks' page never
  std::uint32_t longest_chunk = 0;  // 0: none is too long; a ring has this much room
  std::uint32_t rollback = 0;       // tokens that truncate takes back
  Precision precision = Precision::f32;
  std::uint32_t full_precision_recent = 0;  // with int8, int4: the last rows that are stored as fed
  bool full_precision_sinks = false;        // and the sinks
  PairLayout layout = PairLayout::half_split;
  bool shares = false;        // the units of a layer share their budget by score (plain_sharing.h)
  std::uint32_t alpha = 500;  // then: what of its middle a unit is sure of, in thousandths
  bool own_chance = false;    // draws from the setup's seed, not from the draws it is given
};

// What was fed, as 4 bits cannot hold a tag.
struct PlainTag {
  Token token;
  Place place;
  double position = 0;
};

// One head's key and value, as stored.
struct PlainCell {
  KeyVector key{};
  ValueVector value{};
  bool full_precision = true;
  PlainTag tag{};
  // Of the codes: the steps of the key's groups, then the value's. 0: none.
  std::array<float, (key_size + value_size + payload_group - 1) / payload_group> steps{};
};

// One token's row in a group: a cell for each unit that shares the group's residents.
struct PlainRow {
  Token token;
  double position = 0;   // that the keys are rotated for, as the cache believes
  std::size_t slot = 0;  // where it lies
  bool gone = false;     // evicted: no later query sees it, though it may still be stored
  double gathered = 0;   // attention from all queries since it came
  double queries = 0;    // those
  float last = 0;        // attention from the last query
  std::vector<PlainCell> cells;
};

// The residents that some units share; rows in stream order, whatever their slots.
struct PlainGroup {
  std::vector<PlainRow> rows;
  std::uint64_t fed = 0;       // tokens
  std::uint64_t released = 0;  // tokens that left the recent window, sinks among them
  std::uint64_t entered = 0;   // tokens that ever came into the middle
  std::uint64_t moved = 0;     // rows moved to close gaps
  double log_w = 0;            // of Algorithm L
  std::uint64_t next = 0;      // which newcomer Algorithm L lets in; 0: not drawn yet
  std::vector<double> notes;   // what a subclass wants to remember
};

// The groups as they were before a call, and what that call fed.
struct PlainPast {
  std::vector<PlainGroup> groups;
  std::uint64_t fed = 0;
  std::vector<Token> tokens;
  Stream stream;
};

struct PlainState {
  std::vector<PlainGroup> groups;
  std::uint64_t fed = 0;
  std::vector<PlainPast> past;  // the oldest first
};

// The state as bytes, but for its past; and back: false if the bytes are no such state with as
// many groups and cells.
std::vector<std::uint8_t> save_plain(const PlainState& state);
bool load_plain(std::span<const std::uint8_t> bytes, std::size_t cells, PlainState& state);

}  // namespace kv::properties

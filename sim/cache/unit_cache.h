// The one cache that every policy runs in: who is resident, who is visible, what is stored.
//
// A unit holds the residents that some heads share. The cache owns protection, budget, timing and
// visibility, all from the Spec; the policy only names victims among the middle. Mask, ranks and
// rotary positions are derived from the residents here and nowhere else.
//
// Residents are always
//     [0, sinks)  +  middle (a strictly increasing list)  +  [tail, tokens seen)
// because sinks and recent tokens never leave. A token that drops out of the last `recent` is
// *released*: it joins the middle, and if the middle then exceeds its capacity the policy is asked.
// When tokens are released is the whole difference between timings:
//
//     trim-then-attend   before a chunk, all but the last recent - c
//     attend-then-trim   after a chunk, all but the last recent
//     lazy               the same, once more than budget + slack are stored
//     visibility=window  before each query, all but the last recent (its own key included),
//                        whatever the timing, which then only says when evicted rows are freed
//
// A policy may have evicted rows below a position masked instead of freed: they are no residents
// any more, but stay stored beside the budget (policies/masking.h).
//
// The life of a chunk: begin_chunk, then for each token next_query and (if the policy wants it)
// observe, then end_chunk. Cost a token: O(1) without a middle, plus the policy's own cost.
//
// Caches whose layer shares a budget (budgets=adaptive) decide together: a CacheGroup
// (sim/cache/cache_group.h) begins and ends their chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/rotation.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {

class CacheGroup;

// The positions that one query attends to, in stream order, the query's own last.
struct Visible {
  Run sinks;
  std::span<const Position> middle;
  Run recent;

  [[nodiscard]] std::size_t size() const { return sinks.size() + middle.size() + recent.size(); }
};

// What trimming has cost so far.
struct TrimCounts {
  std::uint64_t trims = 0;    // times at which at least one row was freed
  std::uint64_t evicted = 0;  // rows freed
  std::uint64_t moved = 0;    // rows that storage kept contiguous and in stream order would have
                              // moved to close the gaps; slot-mapped storage moves none

  bool operator==(const TrimCounts&) const = default;
};

class UnitCache {
 public:
  // Draws come through `draws`, which the cache owns; nothing is drawn for a deterministic policy.
  UnitCache(const Spec& spec, std::unique_ptr<Draws> draws);

  // Gives the policy, if it asks for it (policies/rotating.h), how places turn keys and
  // queries; not told, nothing turns. `rotation` is to outlive the cache and its forks.
  void rotate_by(const Rotation* rotation);

  // Whether it decides together with the others of its layer. Then only a CacheGroup may call
  // begin_chunk and end_chunk, and it goes before each next_query.
  [[nodiscard]] bool shares() const { return shares_; }

  // Makes room if the timing says so, then stores `tokens` new rows. Requires tokens > 0 and the
  // last chunk ended.
  void begin_chunk(std::size_t tokens);

  // What the chunk's next query sees. It holds until the next call that is not const.
  const Visible& next_query();

  // What the query at that position of the chunk under way sees, before it is asked: for units that
  // span layers, which meet every query of a chunk once per layer. Requires causal visibility:
  // windows depend on decisions that are still to come.
  [[nodiscard]] Visible visible_to(Position query) const;

  // Shows the policy what it asks for of the query just asked, whose position and draws are filled
  // in. Only if needs().any().
  void observe(Observation shown);

  // Trims if the timing says so. Requires every query of the chunk asked.
  void end_chunk();

  // What the policy asks for.
  [[nodiscard]] const Needs& needs() const { return needs_; }

  [[nodiscard]] bool wants_rows() const { return needs_.attention; }

  // Tokens begun so far; the next chunk starts at this position.
  [[nodiscard]] Position seen() const { return seen_; }

  // Rows in memory now: residents, evicted ones whose rows the timing has not freed yet, and those
  // that are masked for good.
  [[nodiscard]] std::size_t stored() const { return trimmable() + slots_.masked(); }

  // Evicted rows below this position are masked.
  [[nodiscard]] std::uint64_t masked_below() const { return masked_below_; }

  // Residents now: rows that a later query may still see.
  [[nodiscard]] std::size_t residents() const {
    return sinks_held() + middle_.size() + tail_size();
  }

  // All residents, in stream order, as the three runs.
  [[nodiscard]] Visible all() const;

  // The rows' places: slot_of(rank) for the residents of all(), stable until evicted.
  [[nodiscard]] const Slots& slots() const { return slots_; }

  // Positions evicted since the last take_evicted(), in the order of the decisions.
  [[nodiscard]] std::span<const Position> evicted() const { return evicted_; }

  void clear_evicted() { evicted_.clear(); }

  [[nodiscard]] const TrimCounts& counts() const { return counts_; }

  // An independent copy; `draws` serves the copy. Requires no chunk under way.
  [[nodiscard]] UnitCache fork(std::unique_ptr<Draws> draws) const;

  // The whole state as bytes, the policy's with it. Requires no chunk under way.
  void save(ByteWriter& writer) const;

  // Back again, into a cache of the same spec. Mistakes show in ByteReader::finished; the cache is
  // then to be thrown away.
  void load(ByteReader& reader);

 private:
  friend class CacheGroup;

  UnitCache(const UnitCache& other, std::unique_ptr<Draws> draws);

  // The two halves of begin_chunk: a shared decision falls between them.
  void make_room(std::size_t tokens);
  void store(std::size_t tokens);

  // Before the next query: what it must not see leaves.
  void release_for_query();

  // How much more is stored than an end of a chunk lets be; 0 or less: nothing happens.
  [[nodiscard]] std::int64_t over_budget() const;

  [[nodiscard]] std::size_t sinks_held() const { return seen_ < sinks_ ? seen_ : sinks_; }

  [[nodiscard]] std::size_t tail_size() const { return seen_ > tail_ ? seen_ - tail_ : 0; }

  // Rows that count against the budget.
  [[nodiscard]] std::size_t trimmable() const { return residents() + slots_.unfreed(); }

  // Releases every token that is not among the last `recent` of the first `end` positions.
  void release_all_but(std::size_t recent, std::size_t end);

  // Moves the oldest tail token to the middle; or evicts it at once where there is no middle.
  void release_next();
  void evict_next();

  // Asks the policy who goes, now that the middle is over its capacity.
  void decide(std::size_t newcomers);

  // What the policy says that each of the middle is worth, for a shared decision.
  std::span<const double> scores_of_middle();

  // Evicts victims_ from the middle.
  void drop_victims();

  // Ends the program if the policy's answer is none: it may be a user's.
  void check_victims() const;

  // Frees the rows of evicted residents and counts what that cost.
  void free_rows();

  std::string_view policy_name_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Draws> draws_;
  bool bounded_;
  Timing timing_;
  Visibility visibility_;
  bool in_bulk_;
  bool shares_;
  std::uint32_t floor_;  // of a shared budget: what of the middle is not at stake
  bool at_ranks_;
  std::uint64_t masked_below_;
  Position sinks_;
  std::size_t recent_;
  std::size_t capacity_;  // of the middle; on average, where it shares
  std::size_t budget_;
  std::size_t slack_;
  Needs needs_;

  Position seen_ = 0;
  Position chunk_end_ = 0;        // seen_ once the chunk is begun
  Position query_ = 0;            // the next query to be asked
  Visible visible_;               // of the query just asked
  Position tail_;                 // first position of the tail; >= sinks_ always
  std::vector<Position> middle_;  // strictly increasing, all in [sinks_, tail_)
  std::uint64_t entered_ = 0;     // tokens ever released
  std::size_t newcomers_ = 0;     // of them by the last release
  Slots slots_;
  std::size_t first_gap_ = 0;  // lowest rank evicted since rows were last freed
  std::vector<Position> evicted_;
  std::vector<std::size_t> victims_;  // scratch for the policy's answer
  std::vector<std::size_t> ranks_;    // scratch for forget()
  TrimCounts counts_;
};

}  // namespace kv

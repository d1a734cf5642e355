// The one cache that every policy runs in: which tokens are resident, which each query sees, and
// what is stored.
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
//     visibility=window  before each query, all but the last recent (its own key included);
//                        the timing then only says when evicted rows are freed
//
// A policy may have evicted rows below a position masked instead of freed: they are no residents
// any more, but remain stored beside the budget (Policy::masked_below).
//
// Policies may be a user's own, so an answer that breaks their interface is no bug of this program:
// the cache records it (broken_promise()), evicts the oldest candidates instead so that it remains
// a cache, and leaves it to the caller to throw the results away.
//
// The life of a chunk: begin_chunk, then for each token next_query and (if the policy wants it)
// observe, then end_chunk. Cost a token: O(1) without a middle, plus the policy's own cost.
//
// Caches whose layer shares a budget (budgets=adaptive) decide together: a BudgetPool
// (sim/cache/budget_pool.h) begins and ends their chunks, through Trim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/rotation.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/cache/visible.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

struct Spec;

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
  class Trim;

  // Draws come through `draws`, which the cache owns; nothing is drawn for a deterministic policy.
  UnitCache(const Spec& spec, std::unique_ptr<Draws> draws);

  // Tells the policy how places rotate keys and queries (Policy::rotate_by). `rotation` is to
  // outlive the cache and its forks. Before the first chunk.
  void rotate_by(const Rotation* rotation);

  // Whether it decides together with the others of its layer. Then a BudgetPool begins and ends its
  // chunks, and is called before each next_query.
  [[nodiscard]] bool shares() const { return rules_.shares; }

  // The first answer of the policy that its interface forbids, as one sentence that names the
  // policy; empty if there was none. What the cache holds afterwards is not what the policy chose.
  [[nodiscard]] const std::string& broken_promise() const { return state_.broken_promise; }

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
  [[nodiscard]] const Needs& needs() const { return rules_.needs; }

  [[nodiscard]] bool wants_rows() const { return rules_.needs.attention; }

  // Tokens begun so far; the next chunk starts at this position.
  [[nodiscard]] Position seen() const { return state_.seen; }

  // Rows in memory now: residents, evicted ones whose rows the timing has not freed yet, and those
  // that are masked for good.
  [[nodiscard]] std::size_t stored() const { return trimmable() + state_.slots.masked(); }

  // Evicted rows below this position are masked.
  [[nodiscard]] std::uint64_t masked_below() const { return rules_.masked_below; }

  // Residents now: rows that a later query may still see.
  [[nodiscard]] std::size_t residents() const {
    return sinks_held() + state_.middle.size() + tail_size();
  }

  // All residents, in stream order, as the three runs.
  [[nodiscard]] Visible all() const;

  // The rows' places: slot_of(rank) for the residents of all(), stable until evicted.
  [[nodiscard]] const Slots& slots() const { return state_.slots; }

  // Positions evicted since the last clear_evicted(), in the order of the decisions.
  [[nodiscard]] std::span<const Position> evicted() const { return state_.evicted; }

  void clear_evicted() { state_.evicted.clear(); }

  [[nodiscard]] const TrimCounts& counts() const { return state_.counts; }

  // An independent copy; `draws` serves the copy. Requires no chunk under way.
  [[nodiscard]] UnitCache fork(std::unique_ptr<Draws> draws) const;

  // The whole state as bytes, the policy's with it. Requires no chunk under way.
  void save(ByteWriter& writer) const;

  // Back again, into a cache of the same spec. Mistakes show in ByteReader::finished; the cache is
  // then to be thrown away.
  void load(ByteReader& reader);

 private:
  // What the spec and its policy fix; it never changes.
  struct Rules {
    Rules(const Spec& spec, const Policy& policy);

    std::string_view policy_name;
    bool bounded;
    Timing timing;
    Visibility visibility;
    bool in_bulk;
    bool shares;
    std::uint32_t floor;  // of a shared budget: what of the middle is not at stake
    bool at_ranks;
    std::uint64_t masked_below;
    Position sinks;
    std::size_t recent;
    std::size_t capacity;  // of the middle; on average, where it shares
    std::size_t budget;
    std::size_t slack;
    Needs needs;
  };

  // What the stream has made of it; copies are independent.
  struct State {
    Position seen = 0;
    Position query = 0;            // the next query to be asked
    Position tail = 0;             // first position of the tail; >= sinks always
    std::vector<Position> middle;  // strictly increasing, all in [sinks, tail)
    std::uint64_t entered = 0;     // tokens ever released
    Slots slots;
    std::size_t first_gap = 0;  // lowest rank evicted since rows were last freed
    std::vector<Position> evicted;
    TrimCounts counts;
    std::string broken_promise;
  };

  // What one call leaves for the next to overwrite, or for the caller to read.
  struct Scratch {
    Visible visible;                   // of the query just asked
    std::size_t newcomers = 0;         // tokens that the last release released
    std::vector<std::size_t> victims;  // the policy's answer
    std::vector<std::size_t> ranks;    // for forget()
    std::vector<double> no_scores;     // in place of scores that break the interface
  };

  UnitCache(const UnitCache& other, std::unique_ptr<Draws> draws);

  // The two halves of begin_chunk: a shared decision falls between them.
  void make_room(std::size_t tokens);
  void store(std::size_t tokens);

  // Before the next query: releases what it must not see.
  void release_for_query();

  // How many rows are stored beyond what the end of a chunk allows; 0 or less: no trim.
  [[nodiscard]] std::int64_t over_budget() const;

  [[nodiscard]] std::size_t sinks_held() const {
    return state_.seen < rules_.sinks ? state_.seen : rules_.sinks;
  }

  [[nodiscard]] std::size_t tail_size() const {
    return state_.seen > state_.tail ? state_.seen - state_.tail : 0;
  }

  // Rows that count against the budget.
  [[nodiscard]] std::size_t trimmable() const { return residents() + state_.slots.unfreed(); }

  // Releases every token that is not among the last `recent` of the first `end` positions.
  void release_all_but(std::size_t recent, std::size_t end);

  // Moves the oldest tail token to the middle; or evicts it at once where there is no middle.
  void release_next();
  void evict_next();

  // Asks the policy for victims, now that the middle is over its capacity.
  void decide(std::size_t newcomers);

  // What the policy says that each of the middle is worth, for a shared decision.
  std::span<const double> scores_of_middle();

  // Evicts the victims from the middle.
  void drop_victims();

  // What is wrong with the policy's victims, as one sentence; empty if nothing is.
  [[nodiscard]] std::string wrong_victims() const;

  // Frees the rows of evicted residents and counts what that cost.
  void free_rows();

  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Draws> draws_;
  Rules rules_;
  State state_;
  Scratch scratch_;
};

// The steps of a trim, one by one, for caches that decide together. Between them another decides,
// so each of begin_chunk, next_query and end_chunk is cut where its decision falls.
class UnitCache::Trim {
 public:
  // The cache outlives it. Requires cache.shares().
  explicit Trim(UnitCache& cache);

  // Releases what a chunk of so many tokens, the next query, or the end of a chunk calls for.
  void release_for_chunk(std::size_t tokens) { cache_->make_room(tokens); }

  void release_for_query() { cache_->release_for_query(); }

  void release_at_end();

  // The middle, its capacity on average over the layer's units, and how many of its highest scores
  // are not at stake.
  [[nodiscard]] std::span<const Position> middle() const { return cache_->state_.middle; }

  [[nodiscard]] std::size_t capacity() const { return cache_->rules_.capacity; }

  [[nodiscard]] std::size_t floor() const { return cache_->rules_.floor; }

  // Of the middle; the view holds until the policy's next call.
  [[nodiscard]] std::span<const double> scores() { return cache_->scores_of_middle(); }

  // Whether decisions fall before each query, which then has a window of its own.
  [[nodiscard]] bool decides_before_query() const {
    return cache_->rules_.visibility != Visibility::causal;
  }

  // Evicts these of the middle: indices, strictly increasing.
  void drop(std::vector<std::size_t> victims);

  // Stores the chunk's new rows, after its decision.
  void store(std::size_t tokens) { cache_->store(tokens); }

  // How many rows are stored beyond what the end of a chunk allows; 0 or less: no trim.
  [[nodiscard]] std::int64_t over_budget() const { return cache_->over_budget(); }

  // Frees the rows of evicted residents.
  void free_rows() { cache_->free_rows(); }

 private:
  UnitCache* cache_;
};

}  // namespace kv

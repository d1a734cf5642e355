// The one cache that every policy runs in. It determines which tokens are resident, which of them
// each query sees, and which rows are stored.
//
// A unit holds the residents that some heads share. The cache owns protection, budget, timing and
// visibility, all from the Spec. The policy only names victims among the middle. The mask, the
// ranks and the rotary positions are derived from the residents here and nowhere else.
//
// The residents are always
//     [0, sinks)  +  middle (a strictly increasing list)  +  [tail, tokens seen)
// because sinks and recent tokens are never evicted. A token that leaves the last `recent` tokens
// is *released*: it joins the middle, and the policy is called if the middle then exceeds its
// capacity. Timings differ only in when tokens are released:
//
//     trim-then-attend   before a chunk, all but the last recent - c
//     attend-then-trim   after a chunk, all but the last recent
//     lazy               the same, once more than budget + slack are stored
//     visibility=window  before each query, all but the last recent (its own key included);
//                        the timing then only says when evicted rows are freed
//     compress=prompt    nothing before the first trim (sim/spec/phases.h)
//
// A policy may require that evicted rows below a position are masked instead of freed. Their tokens
// are no longer residents, but the rows remain stored beside the budget (Policy::masked_below).
//
// Users may add policies, so an answer that breaks the interface, or an exception, is not a bug of
// this program. The cache records the error (broken_promise()) and evicts the oldest candidates
// instead, so that its own rules still hold. The caller has to discard the results. Only
// std::bad_alloc passes through the cache.
//
// The calls for a chunk are begin_chunk, then for each token next_query and (if the policy needs
// it) observe, then end_chunk. Cost per token: O(1), plus the policy's own cost.
//
// Caches whose layer shares a budget (budgets=adaptive) decide together. A BudgetPool
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

// The cost of all trims so far.
struct TrimCounts {
  std::uint64_t trims = 0;    // the number of times that at least one row was freed
  std::uint64_t evicted = 0;  // rows freed
  std::uint64_t moved = 0;    // rows that contiguous storage would have moved to close the gaps

  bool operator==(const TrimCounts&) const = default;
};

class UnitCache {
 public:
  class Trim;

  // All random numbers come from `draws`. A deterministic policy draws none.
  UnitCache(const Spec& spec, std::unique_ptr<Draws> draws);

  // Reports to the policy how keys and queries are rotated (Policy::rotate_by). `rotation` must
  // outlive the cache and its forks. Call it before the first chunk.
  void rotate_by(const Rotation* rotation);

  // Whether the cache decides together with the others of its layer. If so, a BudgetPool begins and
  // ends its chunks and must be called before each next_query.
  [[nodiscard]] bool shares() const { return rules_.shares; }

  // The first answer of the policy that its interface forbids, or its exception, as one sentence
  // that names the policy; empty if there was none. After it the residents are not those that the
  // policy selected.
  [[nodiscard]] const std::string& broken_promise() const { return state_.broken_promise; }

  // Makes room if the timing requires it, then stores `tokens` new rows. Requires tokens > 0 and
  // that the last chunk has ended.
  void begin_chunk(std::size_t tokens);

  // The visible set of the chunk's next query. It is valid until the next call that is not const.
  const Visible& next_query();

  // The visible set of the query at that position of the current chunk, in advance of next_query.
  // Units that span layers need it, because they process every query of a chunk once per layer.
  // Requires causal visibility, because windows depend on decisions that are not made yet.
  [[nodiscard]] Visible visible_to(Position query) const;

  // Passes the inputs that the policy needs for the last query of next_query. The cache sets the
  // query's position and draws. Call it only if needs().any().
  void observe(Observation shown);

  // Trims if the timing requires it. Requires that next_query was called for the whole chunk.
  void end_chunk();

  // The inputs that the policy needs.
  [[nodiscard]] const Needs& needs() const { return rules_.needs; }

  [[nodiscard]] bool wants_rows() const { return rules_.needs.attention; }

  // The number of tokens in all chunks so far; the next chunk starts at this position.
  [[nodiscard]] Position seen() const { return state_.seen; }

  // The rows in memory now: those of residents, those of evicted tokens that the timing has not
  // freed yet, and those that are masked for good.
  [[nodiscard]] std::size_t stored() const { return trimmable() + state_.slots.masked(); }

  // Evicted rows below this position are masked.
  [[nodiscard]] std::uint64_t masked_below() const { return rules_.masked_below; }

  // The number of residents: tokens that a later query may still see.
  [[nodiscard]] std::size_t residents() const {
    return sinks_held() + state_.middle.size() + tail_size();
  }

  // All residents, in stream order, as the three runs.
  [[nodiscard]] Visible all() const;

  // The slots of rows: slot_of(rank) for the residents of all(), unchanged until evicted.
  [[nodiscard]] const Slots& slots() const { return state_.slots; }

  // The positions evicted since the last clear_evicted(), in the order of the decisions.
  [[nodiscard]] std::span<const Position> evicted() const { return state_.evicted; }

  void clear_evicted() { state_.evicted.clear(); }

  [[nodiscard]] const TrimCounts& counts() const { return state_.counts; }

  // An independent copy, which draws from `draws`. Requires that the last chunk has ended.
  [[nodiscard]] UnitCache fork(std::unique_ptr<Draws> draws) const;

  // Writes the whole state as bytes, with the policy's. Requires that the last chunk has ended.
  void save(ByteWriter& writer) const;

  // Reads the state back into a cache of the same spec. ByteReader::finished reports wrong bytes;
  // the cache must then be discarded.
  void load(ByteReader& reader);

 private:
  // The constants that the spec and its policy fix.
  struct Rules {
    Rules(const Spec& spec, const Policy& policy);

    std::string_view policy_name;
    bool bounded;
    Timing timing;
    Visibility visibility;
    bool in_bulk;
    bool shares;
    std::uint32_t floor;  // of a shared budget: tokens that a unit keeps in any case
    bool at_ranks;
    std::uint64_t masked_below;
    Position sinks;
    std::size_t recent;
    std::size_t capacity;  // of the middle; on average if the budget is shared
    std::size_t budget;
    std::size_t slack;         // rows above the budget that later trims wait for
    std::uint64_t first_trim;  // sim/spec/phases.h
    bool once;                 // whether the first trim is the only one
    Needs needs;
  };

  // The state that the stream changes; copies are independent.
  struct State {
    Position seen = 0;
    Position query = 0;            // the position of the next query
    bool first_due = false;        // whether the chunk began before the first trim
    Position tail = 0;             // first position of the tail; >= sinks always
    std::vector<Position> middle;  // strictly increasing, all in [sinks, tail)
    std::uint64_t entered = 0;     // tokens ever released
    Slots slots;
    std::size_t first_gap = 0;  // lowest rank evicted since rows were last freed
    std::vector<Position> evicted;
    TrimCounts counts;
    std::string broken_promise;
  };

  // Buffers that calls overwrite or that the caller reads after a call.
  struct Scratch {
    Visible visible;                   // of the last query
    std::size_t newcomers = 0;         // tokens that were released last
    std::vector<std::size_t> victims;  // the policy's answer
    std::vector<std::size_t> ranks;    // for forget()
    std::vector<double> no_scores;     // zeros, in place of scores that break the interface
  };

  UnitCache(const UnitCache& other, std::unique_ptr<Draws> draws);

  // The two halves of begin_chunk. A shared decision is made between them.
  void make_room(std::size_t tokens);
  void store(std::size_t tokens);

  // Releases the tokens that the next query must not see.
  void release_for_query();

  // The number of rows above the size that the end of a chunk allows; no trim if 0 or less.
  [[nodiscard]] std::int64_t over_budget() const;

  [[nodiscard]] std::size_t sinks_held() const {
    return state_.seen < rules_.sinks ? state_.seen : rules_.sinks;
  }

  [[nodiscard]] std::size_t tail_size() const {
    return state_.seen > state_.tail ? state_.seen - state_.tail : 0;
  }

  // The number of rows that count against the budget.
  [[nodiscard]] std::size_t trimmable() const { return residents() + state_.slots.unfreed(); }

  // Releases every token that is not among the last `recent` of the first `end` positions.
  void release_all_but(std::size_t recent, std::size_t end);

  // Moves the oldest tail token to the middle, or evicts it if there is no middle.
  void release_next();
  void evict_next();

  // Asks the policy for victims and evicts them. Requires a middle above its capacity.
  void decide(std::size_t newcomers);

  // The policy's scores of the middle, for a shared decision.
  std::span<const double> scores_of_middle();

  // Calls the policy; if it throws, records the error and replaces the policy.
  template <typename Call>
  void ask(const Call& call);
  void break_promise(const std::string& what);

  // Evicts the victims from the middle.
  void drop_victims();

  // Whether the policy's victims are enough and in order; if not, the error as a sentence's end.
  [[nodiscard]] bool victims_fit() const;
  [[nodiscard]] std::string wrong_victims() const;
  // Frees the rows of evicted residents and counts the cost.
  void free_rows();

  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Draws> draws_;
  Rules rules_;
  State state_;
  Scratch scratch_;
};

// The single steps of a trim, for caches that decide together. The pool makes the decision between
// these steps, so each of begin_chunk, next_query and end_chunk is split at its decision.
class UnitCache::Trim {
 public:
  // The cache outlives it. Requires cache.shares().
  explicit Trim(UnitCache& cache);

  // Release the tokens that must leave the recent window before a chunk of `tokens` tokens, before
  // the next query, and at the end of a chunk.
  void release_for_chunk(std::size_t tokens) { cache_->make_room(tokens); }

  void release_for_query() { cache_->release_for_query(); }

  void release_at_end();

  // The middle, its average capacity over the layer's units, and how many of its highest scores the
  // unit keeps in any case.
  [[nodiscard]] std::span<const Position> middle() const { return cache_->state_.middle; }

  [[nodiscard]] std::size_t capacity() const { return cache_->rules_.capacity; }

  [[nodiscard]] std::size_t floor() const { return cache_->rules_.floor; }

  // The scores of the middle. The view is valid until the policy's next call.
  [[nodiscard]] std::span<const double> scores() { return cache_->scores_of_middle(); }

  // Whether there is a decision before each query, which then has a window of its own.
  [[nodiscard]] bool decides_before_query() const {
    return cache_->rules_.visibility != Visibility::causal;
  }

  // Evicts tokens of the middle by index, strictly increasing.
  void drop(std::vector<std::size_t> victims);

  // Stores the chunk's new rows, after its decision.
  void store(std::size_t tokens) { cache_->store(tokens); }

  // The number of rows above the size that the end of a chunk allows; no trim if 0 or less.
  [[nodiscard]] std::int64_t over_budget() const { return cache_->over_budget(); }

  // Frees the rows of evicted residents.
  void free_rows() { cache_->free_rows(); }

 private:
  UnitCache* cache_;
};

}  // namespace kv

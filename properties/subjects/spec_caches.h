// The caches of a spec's subject: one UnitCache for all units that share residents, and what a call
// did with each, reported unit by unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/subject.h"
#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

// `spec` with the sizes that `setup` requests, as far as the policy takes them: a policy without
// sinks gets none, and one without a middle gives its recent window what the sinks leave of the
// budget. Where queries select pages, pages_for() gives their sizes, and each query head is a unit.
// With a ratio the setup's budget is the least one. An error if no cache can have these sizes.
Result<Spec> spec_for(const Spec& spec, const Setup& setup);

// The selection of pages that `setup` requests: queries attend to the budget, the recent window
// is the page (no larger than it was), and at least the last layer is not dense.
TopPages pages_for(const TopPages& sizes, const Setup& setup);

// `spec` as the unit at this place runs it; of unit=head, places count query heads.
Spec spec_at(const Spec& spec, Unit unit, const Setup& setup, const Place& place);

class SpecCaches {
 public:
  SpecCaches(const Spec& spec, const Setup& setup, DrawsOf draws);

  // The same number of tokens into every sequence; positions follow on. Requires some tokens.
  Facts feed(const Feed& feed);

  [[nodiscard]] Facts look() const;

  // What is fed to empty caches in one call is the prompt of a spec with phases.

  // Tokens fed so far.
  [[nodiscard]] std::size_t seen() const { return tokens_.size(); }

  [[nodiscard]] SpecCaches fork() const;
  void clear();

  // False, and nothing has changed, if `from` does not name a sequence for each.
  [[nodiscard]] bool reorder(std::span<const std::uint32_t> from);

  [[nodiscard]] std::vector<std::uint8_t> save() const;

  // False, and nothing has changed, if save() of such caches did not write `bytes`.
  [[nodiscard]] bool load(std::span<const std::uint8_t> bytes);

 private:
  struct SharedCache {
    UnitCache cache;
    std::vector<Position> unfreed;      // evicted, and stored until the next trim; increasing
    std::vector<Position> masked;       // evicted, and stored for good
    std::optional<PageChoice> pages{};  // where queries choose
  };

  // What a chunk did with one cache: the same for every unit that shares it, but for the weights.
  struct SharedFacts {
    std::vector<Position> returned;
    std::vector<std::uint8_t> visible;
    std::vector<double> query_positions;
    std::vector<double> key_positions;
    std::vector<std::vector<float>> weights;  // per unit of the cache; empty if they are not read
    std::vector<double> page_bounds;          // where queries choose
    std::size_t page_width = 0;
  };

  // Without caches: for fork().
  struct Bare {};

  SpecCaches(const Spec& spec, const Setup& setup, DrawsOf draws, Bare)
      : spec_(spec), setup_(setup), heads_{setup, spec.unit}, draws_(std::move(draws)) {}

  // Empty caches of the spec as it is for a stream with such a prompt.
  void make_caches(std::uint64_t prompt);
  [[nodiscard]] SharedCache fresh(const Spec& spec, std::size_t index) const;
  [[nodiscard]] SharedCache copy_of(std::size_t from,
                                    std::size_t to) const;  // with the draws of `to`
  void begin_cache(std::size_t index, const Feed& feed, SharedFacts& facts);
  void feed_cache(std::size_t index, const Feed& feed, std::size_t query, SharedFacts& facts);
  void report_to(std::size_t index, SharedFacts reported, Facts& facts);
  void weigh(std::size_t index,
             const Feed& feed,
             std::size_t query,
             const std::vector<std::size_t>& rows,
             SharedFacts& facts);
  void show(std::size_t index, const Feed& feed, std::size_t query);
  void meet_keys(std::size_t index, const Feed& feed);
  Visible select(std::size_t index, const Feed& feed, std::size_t query, SharedFacts& facts);
  static void note_evictions(SharedCache& shared);
  static std::vector<Position> stored_in(const SharedCache& shared);
  [[nodiscard]] Row row_of(Position position, std::size_t unit) const;
  void report_state(std::size_t unit, UnitFacts& facts) const;

  Spec spec_;
  Setup setup_;
  Heads heads_;
  DrawsOf draws_;
  std::vector<SharedCache> caches_;
  std::uint64_t prompt_ = 1;   // that the caches were made for
  std::vector<Token> tokens_;  // fed so far, by position; the same for every sequence

  // [sequence][position]: the sequence that the rows of a position were made for, where reorder
  // ever changed that; else empty.
  std::vector<std::vector<std::uint32_t>> origins_;

  // Scratch of one query.
  std::vector<Token> keys_;
  std::vector<float> mass_, sum_;
};

}  // namespace kv::properties

// What every mutant is made from: a tagged cache with one step wrong.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/tagged/tagged_family.h"

namespace kv::properties {

// Derived ones override a step, and say under which options and declarations they are tried. They
// name no reference unless they say so: laws must find them by what they do.
struct Wrong : TaggedCache {
  static TaggedOptions options() { return {}; }

  static void declare(Contract& contract) { contract.reference.clear(); }

  [[nodiscard]] std::uint64_t chunk_begin() const { return state_.fed - chunk_; }

  [[nodiscard]] bool is_sink(const StoredRow& row) const {
    return row.token.position < static_cast<std::int32_t>(contract_.sinks);
  }

  [[nodiscard]] std::size_t layer_of(const CacheUnit& unit) const { return place_of(unit).layer; }

  // The payer: the unit's first query head.
  [[nodiscard]] Payer first_payer(const CacheUnit& unit) const {
    const Place place = place_of(unit);
    return {place.sequence, place.layer, place.head * setup_.group};
  }

  // Which of choice.rows to evict next; the right one unless a mutant selects another. One at a
  // time, so that a mutant need not know whether the rule decides in bulk.
  virtual std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& /*draws*/) {
    Choice one = choice;
    if (rule_for(unit).in_bulk()) one.capacity = choice.rows.size() - 1;
    return TaggedCache::victims(unit, one).front();
  }

  Rows victims(CacheUnit& unit, const Choice& choice) final {
    return {victim(unit, choice, draws_for(unit))};
  }

  // Drops the rows that `drops` names, and closes the gaps.
  template <typename Drops>
  void drop(CacheUnit& unit, Drops drops) {
    std::erase_if(unit.rows, drops);
    close_gaps(unit);
  }
};

// More than the budget is seen inside a chunk, declared.
struct CausalWrong : Wrong {
  static TaggedOptions options() { return {.visibility = Visibility::causal}; }
};

// Evicted rows stay stored for a while.
struct LazyWrong : Wrong {
  static TaggedOptions options() { return {.timing = Timing::lazy, .slack = 4}; }
};

struct ScoredWrong : Wrong {
  static TaggedOptions options() { return {.policy = "h2o"}; }
};

struct CausalScoredWrong : Wrong {
  static TaggedOptions options() { return {.policy = "h2o", .visibility = Visibility::causal}; }
};

struct ReservoirWrong : Wrong {
  static TaggedOptions options() { return {.policy = "reservoir"}; }
};

// Behind the sinks rows lie in a ring with room for short chunks.
struct RingWrong : Wrong {
  static TaggedOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = SlotOrder::ring, .longest_chunk = 4};
  }

  [[nodiscard]] std::size_t ring() const {
    return contract_.budget + contract_.slack - contract_.sinks;
  }

  // The slot of the `at`-th token behind the sinks, cleared.
  std::size_t write_at(CacheUnit& unit, std::size_t at) const {
    return write_over(unit, contract_.sinks + at % ring());
  }

  static std::size_t write_over(CacheUnit& unit, std::size_t slot) {
    std::erase_if(unit.rows, [slot](const StoredRow& row) { return row.slot == slot; });
    return slot;
  }
};

// The family of the mutant `Made`.
template <typename Made>
std::unique_ptr<Family> of(std::string_view name) {
  return std::make_unique<TaggedFamily<Made>>(std::string(name), Made::options(), &Made::declare);
}

std::vector<Mutant> size_mutants();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> window_mutants();
std::vector<Mutant> position_mutants();
std::vector<Mutant> shift_mutants();
std::vector<Mutant> payload_mutants();
std::vector<Mutant> code_mutants();
std::vector<Mutant> ring_mutants();
std::vector<Mutant> rollback_mutants();
std::vector<Mutant> fork_mutants();
std::vector<Mutant> page_mutants();
std::vector<Mutant> choice_mutants();
std::vector<Mutant> score_mutants();
std::vector<Mutant> chance_mutants();
std::vector<Mutant> skip_mutants();
std::vector<Mutant> layer_mutants();
std::vector<Mutant> length_mutants();
std::vector<Mutant> promise_mutants();
std::vector<Mutant> rare_mutants();
std::vector<Mutant> sharing_mutants();
std::vector<Mutant> declared_mutants();
std::vector<Mutant> place_mutants();
std::vector<Mutant> prompt_mutants();
std::vector<Mutant> compression_mutants();
std::vector<Mutant> borrowing_mutants();

}  // namespace kv::properties

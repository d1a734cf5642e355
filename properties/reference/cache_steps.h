// The executable specification of a cache, step by step: timing, visibility, shared budgets and the
// choice of pages, on lists of rows.
//
// Written apart from policies/ and sim/cache, whose code it is compared with: nothing is shared but
// the spec as a value. Slow, and meant to be read. Each step is virtual: a mutant is a subject with
// one step overridden (properties/mutants). ReferenceCache runs the steps on positions alone, and
// TaggedCache with keys and values laid over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/properties/reference/rule.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

// The spec as it is for a stream whose first call feeds `prompt` tokens: when it trims first, and
// to what. With a ratio, spec.budget is the least budget.
Spec for_prompt(const Spec& spec, std::uint64_t prompt);

class CacheSteps {
 public:
  using Rows = std::vector<std::size_t>;  // indices into a unit's rows
  using Numbers = std::vector<float>;

  CacheSteps() = default;
  CacheSteps(const CacheSteps&) = default;
  CacheSteps(CacheSteps&&) = default;
  CacheSteps& operator=(const CacheSteps&) = default;
  CacheSteps& operator=(CacheSteps&&) = default;
  virtual ~CacheSteps() = default;

 protected:
  // What surrounds the cache.
  virtual Rule& rule_for(const CacheUnit& unit) = 0;
  virtual Draws& draws_for(const CacheUnit& unit) = 0;
  virtual TokenInputs inputs_of(const CacheUnit& unit, Token token) = 0;

  // Shows the query what it may see, and lets the rule observe what it pays.
  virtual void attend(CacheUnit& unit, std::span<const Token> chunk, std::size_t query) = 0;

  // One call, of one unit or of all that share a budget.
  void feed_units(std::span<CacheUnit> units, std::span<const Token> tokens);

  // The steps of a call, in order, for each unit.

  // Before the chunk: trims if the timing says so.
  virtual void make_room(CacheUnit& unit, std::size_t chunk);

  // Stores a row for each token.
  virtual void append(CacheUnit& unit, std::span<const Token> tokens);

  virtual StoredRow make_row(CacheUnit& unit, Token token);

  // The chunk is stored, and no query has been asked.
  virtual void begin_attention(CacheUnit& /*unit*/) {}

  // Before the query: with visibility=window, evicts what it must not see.
  virtual void before_query(CacheUnit& unit, Token query);

  // Whether the query may attend to the row, but for its choice of pages.
  virtual bool may_see(const CacheUnit& unit, const StoredRow& row, Token query);

  // Learns from one query's attention over the rows that it saw.
  virtual void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass);

  // Whether what is stored after a chunk is more than the timing allows.
  virtual bool is_over_budget(std::span<const CacheUnit> units);

  // After the chunk: trims if the timing says so.
  virtual void after_chunk(CacheUnit& unit);

  // Moves every token into the middle that is not among the last `recent` of the first `end`.
  virtual void release(CacheUnit& unit, std::uint64_t end);

  // Brings the middle down to its capacity, unless its budget is shared.
  virtual void settle(CacheUnit& unit);

  // Which of choice.rows to evict; asked again while they are too many.
  virtual Rows victims(CacheUnit& unit, const Choice& choice);

  // Frees the rows of evicted tokens.
  virtual void free_rows(CacheUnit& unit);

  // Shared budgets.

  // One of a middle: `head` is its unit's place among those that share.
  struct Contender {
    double score = 0;
    Position position = 0;
    std::size_t head = 0;
    StoredRow* row = nullptr;
  };

  // Brings the middles of the units down to what they may hold together.
  virtual void deal(std::span<CacheUnit> units);

  // The scores of choice.rows, as units are compared by them.
  virtual std::vector<double> scores(CacheUnit& unit, std::size_t /*head*/) {
    return rule_for(unit).scores(choice_of(unit));
  }

  // How many of its middle a unit keeps whatever the others' scores.
  [[nodiscard]] virtual std::size_t sure() const;

  // A unit's middle by score, the lowest first; among equals the older.
  std::vector<Contender> middle_of(CacheUnit& unit, std::size_t head);

  // How many more than they may hold the middles of these units hold.
  std::size_t surplus(std::span<CacheUnit> units);

  // Pages that queries choose.

  [[nodiscard]] virtual bool selects(const CacheUnit& unit);

  // The numbers by which a query selects.
  virtual Numbers query_of(const CacheUnit& unit, Token query);

  // The most that the query times one of these keys could be, were each channel free to be that of
  // any of them. Made anew from the rows each time: no bound is kept.
  virtual double bound(const std::vector<Numbers>& keys, const Numbers& query);

  // How many pages a query attends to.
  virtual std::size_t pages();

  // The pages attended to: bounds[i] is that of page i, the last one the query's own.
  virtual Rows select(const std::vector<double>& bounds);

  // The bound of each page up to the query's own.
  std::vector<double> bounds_of(const CacheUnit& unit, Token query);

  // The `count` first pages by bound; of equals the newer.
  static Rows highest(const std::vector<double>& bounds, std::size_t count);

  [[nodiscard]] std::size_t page_of(Token token) const;

  // Helpers.

  // The spec in use. A mutant may use another one for a while.
  [[nodiscard]] const Spec& spec() const { return *spec_; }

  void use(const Spec& spec);

  [[nodiscard]] std::size_t capacity() const;

  [[nodiscard]] bool shares_budget() const;

  // Whether nothing is evicted after the first trim.
  [[nodiscard]] bool grows() const;

  // Whether room is made before the chunk under way.
  [[nodiscard]] bool trims_first() const;

  Choice choice_of(CacheUnit& unit);
  void evict(CacheUnit& unit, StoredRow& row);
  static StoredRow* find(CacheUnit& unit, std::uint64_t position);

  bool doubtful_ = false;  // a shared decision hung on rounding

 private:
  std::shared_ptr<const Spec> spec_;  // a pointer, so that few sources see what a spec is made of
  bool trims_ = false;                // after the chunk under way
  bool is_prompt_ = false;            // the chunk under way begins before the first trim
};

}  // namespace kv::properties

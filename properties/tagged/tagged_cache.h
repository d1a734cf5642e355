// A right cache as a subject: the executable specification with keys and values laid over it, which
// are really held, rotated, quantised and moved, and say when read whose they are.
//
// It answers for the battery's trustworthiness twice. Its legal variations (tagged_family.h) must
// never be accused. And a mutant is one of its steps overridden, or one of CacheSteps: every step
// is virtual, and does what its comment says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/reference/cache_steps.h"
#include "kvcheck/properties/subject.h"
#include "kvcheck/properties/tagged/tagged_state.h"

namespace kv::properties {

// What a tagged cache is made of. The sizes are those of the contract that was made of `setup`.
struct TaggedParts {
  TaggedOptions options;
  Setup setup;
  Contract contract;
  std::shared_ptr<const Spec> spec;
  DrawsOf draws;
};

class TaggedCache : public Subject, protected CacheSteps {
 public:
  // Makes a fresh one of the same class, for forks.
  using Factory = std::function<std::unique_ptr<TaggedCache>()>;

  // To be called once before all others: a constructor would have to be repeated in every mutant.
  void open(const TaggedParts& parts, Factory fresh);

  Answer<Facts> feed(const Feed& feed) override;
  Facts look() override;
  Answer<Done> reset() override;
  Answer<std::unique_ptr<Subject>> fork() override;
  Answer<Done> truncate(std::int64_t length) override;
  Answer<Done> reorder(std::span<const std::uint32_t> from) override;
  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override;

  Answer<std::vector<std::uint8_t>> snapshot() override { return save_state(state_); }

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override;

 protected:
  using Mask = std::vector<std::uint8_t>;
  using Masses = std::vector<std::vector<float>>;  // by head, then by visible row

  // A query of the call under way.
  struct Query {
    Token token;
    std::span<const Token> chunk;
    std::size_t index = 0;  // its place in the chunk
    const Rows& returned;   // the rows that attention is given
    Rows visible{};         // those that it sees, in stream order
  };

  // The longest chunk that the next call may feed; 0: none is too long.
  virtual std::uint32_t longest_now() { return contract_.longest_after(state_.fed); }

  // The spec for the chunk that is to be fed: what an empty cache takes is its prompt.
  virtual Spec spec_for_chunk(std::size_t chunk);

  [[nodiscard]] const Spec& declared() const { return *declared_; }

  // Storage.

  // The rotary position that the key of a new row is rotated for.
  virtual double append_position(const CacheUnit& unit, Token token);

  // The slot that a new row takes.
  virtual std::size_t slot_for(CacheUnit& unit, Token token);

  // The vectors of one row: key and value of `token`, of the head `head`.
  virtual StoredVectors make_vectors(Token token, std::size_t head, double position);

  // The page that holds a position: 0 for the sinks, then those of `page` tokens.
  [[nodiscard]] std::uint64_t page_at(std::uint64_t position) const {
    const std::uint64_t sinks = contract_.sinks;
    return position < sinks ? 0 : 1 + (position - sinks) / options_.page;
  }

  // Whether some row is to be kept in each page; the page being filled always has one.
  [[nodiscard]] std::vector<bool> pages_kept(const CacheUnit& unit) const;

  // Frees the rows of evicted tokens, or their pages.
  void free_rows(CacheUnit& unit) override;

  // After rows were freed: rotates what must be rotated again.
  virtual void close_gaps(CacheUnit& unit);

  // Trims as specified, makes room for the next token where that is declared, and lowers the
  // precision of old rows.
  void after_chunk(CacheUnit& unit) override;

  // How many tokens there is to be room for at the end of a call.
  virtual std::uint64_t ahead() { return options_.evicts_ahead ? 1 : 0; }

  // Stores in the lower precision what is no longer recent.
  virtual void lower_precision(CacheUnit& unit);

  // Whether the row is to be stored in the lower precision.
  virtual bool is_old(const CacheUnit& unit, const StoredRow& row);

  // Stores a key and its value in the lower precision.
  virtual void lower(StoredVectors& vectors);

  // Attention.

  // The rows that attention is given, as indices into unit.rows, in slot order.
  virtual Rows returned_rows(const CacheUnit& unit, std::size_t /*chunk*/) {
    return stored_rows(unit);
  }

  // The mask row over the returned rows; its size is the mask's width.
  virtual Mask mask_row(const CacheUnit& unit, const Query& query);

  // The rotary position that the query is rotated for; `visible` are the rows it sees.
  virtual double query_position(const CacheUnit& unit, Token query, const Rows& visible);

  // The rotary positions of the returned rows as the query counts them; empty: the rows' own.
  virtual std::vector<double> key_positions(const Rows& returned, const Rows& visible);

  // The attention that the query pays to the rows it sees: the mean over the unit's heads, and
  // each head's own mean.
  virtual std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head);

  // What the cache says its length is.
  virtual std::uint64_t reported(const CacheUnit& unit) { return unit.rows.size(); }

  // The units that share a budget follow each other: so many at a time.
  [[nodiscard]] virtual std::size_t sharers() const {
    return shares_budget() ? heads_.in_layer() : 1;
  }

  // Layers that attend to the rows of others.

  // The layer whose rows that one attends to; its own number where it stores rows.
  virtual std::uint32_t owner_of(std::uint32_t layer) { return contract_.owner_of(layer); }

  // What a head reports that reads the owner's rows: these, and the weights of its own queries.
  virtual UnitFacts borrowed(const UnitFacts& owner, std::size_t head);

  // Back to `length` tokens.
  virtual void roll_back(std::uint64_t length);

  // Rotates the rows from position `begin` on.
  virtual void shift_rows(CacheUnit& unit, std::int64_t begin, double delta);

  // Helpers.
  [[nodiscard]] std::size_t index_of(const CacheUnit& unit) const {
    return static_cast<std::size_t>(&unit - state_.units.data());
  }

  // The first of the heads that share the unit's residents.
  [[nodiscard]] std::size_t first_head(const CacheUnit& unit) const {
    return index_of(unit) * heads_.sharing();
  }

  [[nodiscard]] Place place_of(std::size_t head) const { return heads_.place_of(head); }

  [[nodiscard]] Place place_of(const CacheUnit& unit) const { return place_of(first_head(unit)); }

  static Rows stored_rows(const CacheUnit& unit);  // in slot order
  static double own_position(const CacheUnit& unit, Token query);

  // What that payer pays to the rows that the query sees.
  [[nodiscard]] std::vector<float> mass_of(const CacheUnit& unit,
                                           const Query& query,
                                           const Payer& payer) const;
  void rotate(StoredRow& row, double delta) const;

  // The specification's surroundings.
  Rule& rule_for(const CacheUnit& /*unit*/) override { return *rule_; }

  Draws& draws_for(const CacheUnit& unit) override { return *draws_[index_of(unit)]; }

  TokenInputs inputs_of(const CacheUnit& unit, Token token) override;
  bool selects(const CacheUnit& unit) override;
  StoredRow make_row(CacheUnit& unit, Token token) override;
  void begin_attention(CacheUnit& unit) override;
  void attend(CacheUnit& unit, std::span<const Token> chunk, std::size_t query) override;
  bool is_over_budget(std::span<const CacheUnit> units) override;

  TaggedOptions options_;
  Setup setup_;
  Heads heads_;
  Contract contract_;
  TaggedState state_;

  // Of the call under way.
  std::size_t chunk_ = 0;  // tokens
  Stream stream_;
  std::vector<Token> asking_;

 private:
  void remember(const Feed& feed);
  [[nodiscard]] bool borrows(const CacheUnit& unit);
  void borrow_rows(Facts& facts);
  static void report_bounds(const std::vector<double>& bounds, std::size_t width, UnitFacts& facts);
  void report_state(CacheUnit& unit, Facts& facts);

  std::shared_ptr<const Spec> declared_;
  std::unique_ptr<Rule> rule_;
  DrawsOf draws_of_;
  std::vector<std::unique_ptr<Draws>> draws_;  // one a unit
  Factory fresh_;
  Facts facts_;                              // of the call under way
  std::vector<Rows> returned_;               // by unit
  std::vector<std::vector<double>> bounds_;  // by unit: those its query chose pages by
};

}  // namespace kv::properties

// A right cache, written the obvious way and apart from sim/ and policies/: rows in vectors, keys
// and values really held and rotated.
//
// It answers for the battery's trustworthiness twice. Its legal variations (plain_family.h) must
// never be accused. And a mutant is one of its steps overridden: every step is virtual, and does
// what its comment says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/properties/plain/plain_state.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

class PlainSubject : public Subject {
 public:
  // Makes a fresh one of the same class, for forks.
  using Factory = std::function<std::unique_ptr<PlainSubject>()>;

  // The sizes are those of the contract that was made of `setup`.
  PlainSubject(const PlainOptions& options,
               const Setup& setup,
               const Contract& contract,
               const DrawsOf& draws,
               Factory again);

  Answer<Facts> feed(const Feed& feed) override;
  Facts look() override;
  Answer<Done> reset() override;
  Answer<std::unique_ptr<Subject>> fork() override;
  Answer<Done> truncate(std::int64_t length) override;
  Answer<Done> reorder(std::span<const std::uint32_t> from) override;
  Answer<std::vector<std::uint8_t>> snapshot() override;
  Answer<Done> restore(std::span<const std::uint8_t> bytes) override;

 protected:
  // The steps of a call, in order, for each group.

  // Before the chunk: trims if the timing says so.
  virtual void make_room(PlainGroup& group, std::size_t chunk);

  // Stores a row for each token.
  virtual void append(PlainGroup& group, std::span<const Token> tokens);

  // The rotary position that the key of a new row is rotated for.
  virtual double append_position(const PlainGroup& group, Token token);

  // The slot that a new row takes.
  virtual std::size_t slot_for(PlainGroup& group, Token token);

  // What a cell holds: key and value of `token`, of the unit `unit`.
  virtual PlainCell make_cell(Token token, std::size_t unit, double position);

  // The rows that attention is given, as indices into group.rows, in slot order.
  virtual std::vector<std::size_t> returned_rows(const PlainGroup& group, std::size_t chunk);

  // Before the query: with visibility=window, lets go what it must not see.
  virtual void before_query(PlainGroup& group, Token query);

  // Whether the query may attend to the row.
  virtual bool may_see(const PlainGroup& group, const PlainRow& row, Token query);

  // The mask row over the returned rows; its size is the mask's width. `chunk` tells where in it
  // the query stands.
  virtual std::vector<std::uint8_t> mask_row(const PlainGroup& group,
                                             const std::vector<std::size_t>& returned,
                                             std::span<const Token> chunk,
                                             std::size_t query);

  // The rotary position that the query is rotated for; `visible` are the rows it sees.
  virtual double query_position(const PlainGroup& group,
                                Token query,
                                const std::vector<std::size_t>& visible);

  // The rotary positions of the returned rows as the query counts them; empty: the rows' own.
  virtual std::vector<double> key_positions(const std::vector<std::size_t>& returned,
                                            const std::vector<std::size_t>& visible);

  // The attention that the query pays to the rows it sees: the mean over the group's heads, and
  // each unit's own mean.
  virtual std::vector<float> weigh(const PlainGroup& group,
                                   const Feed& feed,
                                   std::size_t query,
                                   const std::vector<std::size_t>& visible,
                                   std::vector<std::vector<float>>& per_unit);

  // Learns from one query's attention over the rows that it saw: the mean over the group's heads.
  virtual void observe(PlainGroup& group,
                       const std::vector<std::size_t>& visible,
                       std::span<const float> mass);

  // After the chunk: trims if the timing says so, and lowers the precision of old rows.
  virtual void after_chunk(PlainGroup& group);

  // Lets every token go into the middle that is not among the last `recent` of the first `end`.
  virtual void release(PlainGroup& group, std::uint64_t end);

  // Brings the middle down to its capacity.
  virtual void settle(PlainGroup& group);

  // The steps of the call, for all groups.
  virtual void feed_groups(const Feed& feed, Facts& facts);

  // Which of the candidates goes (an index into them); the newest is the newcomer. They are
  // indices into group.rows, in stream order; `capacity` may stay.
  virtual std::size_t victim(PlainGroup& group,
                             const std::vector<std::size_t>& candidates,
                             std::size_t capacity,
                             Draws& draws);

  // Frees the rows that are gone, or their pages.
  virtual void free_rows(PlainGroup& group);

  // After rows were freed: rotates what must be rotated again.
  virtual void close_gaps(PlainGroup& group);

  // Stores in the lower precision what is no longer recent.
  virtual void lower_precision(PlainGroup& group);

  // Whether the row is to be stored in the lower precision.
  virtual bool is_old(const PlainGroup& group, const PlainRow& row);

  // Stores a cell in the lower precision.
  virtual void lower(PlainCell& cell);

  // What the cache says its length is.
  virtual std::uint64_t reported(const PlainGroup& group);

  // Back to `length` tokens.
  virtual void roll_back(std::uint64_t length);

  // Helpers.
  [[nodiscard]] std::size_t units() const;
  [[nodiscard]] std::size_t shared() const;  // units per group
  [[nodiscard]] std::size_t index_of(const PlainGroup& group) const;
  [[nodiscard]] std::size_t first_unit(const PlainGroup& group) const;
  [[nodiscard]] Place place_of(std::size_t unit) const;
  [[nodiscard]] virtual std::size_t capacity() const;  // of the middle
  [[nodiscard]] bool ranked() const;                   // the policy goes by scores
  [[nodiscard]] virtual Draws& draws_of(const PlainGroup& group);
  static std::vector<std::size_t> stored_rows(const PlainGroup& group);  // in slot order
  static PlainRow* find(PlainGroup& group, std::uint64_t position);
  [[nodiscard]] Row report_to(const PlainRow& row, std::size_t cell) const;
  [[nodiscard]] double steps_off(const PlainCell& cell) const;
  void rotate(PlainRow& row, double delta) const;
  void feed_group(PlainGroup& group, const Feed& feed, Facts& facts);
  std::vector<std::size_t> begin_attention(PlainGroup& group, const Feed& feed, Facts& facts);
  void attend(PlainGroup& group,
              const Feed& feed,
              std::size_t query,
              const std::vector<std::size_t>& returned,
              Facts& facts);
  virtual void report_state(PlainGroup& group, Facts& facts);

  PlainOptions options_;
  Setup setup_;
  Contract contract_;
  PlainState state_;
  std::size_t chunk_ = 0;  // tokens of the call under way
  Factory re_evaluation_;

 private:
  void remember(const Feed& feed);
  DrawsOf draws_of_;
  std::vector<std::unique_ptr<Draws>> draws_;  // one a group
};

}  // namespace kv::properties

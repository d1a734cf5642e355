// A plain cache whose layers share their budgets by score, written apart from
// sim/cache/budget_pool.h.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

// Wants options.shares, h2o or tova, and no lazy timing.
class PlainSharing : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

 protected:
  // One of a layer's middles.
  struct Contender {
    double score = 0;
    std::uint64_t position = 0;
    std::size_t head = 0;  // its place in the layer
    PlainRow* row = nullptr;
  };

  // The layers one after the other: all heads of one release before any of them decides.
  void feed_groups(const Feed& feed, Facts& facts) override;

  // Nobody decides alone.
  void settle(PlainGroup& /*group*/) override {}

  // Brings the middles of these groups, a layer's, down to what they may hold together.
  virtual void deal(std::span<PlainGroup> layer);

  // What a row is worth to its head.
  [[nodiscard]] virtual double score(const PlainRow& row, std::size_t head) const;

  // How many of its middle a head is sure of, and how many heads share.
  [[nodiscard]] virtual std::size_t sure() const { return capacity() * options_.alpha / 1000; }

  [[nodiscard]] virtual std::size_t sharers() const;

  [[nodiscard]] std::size_t capacity() const override;

  // A head's middle, from the least worth up: among equals the older first.
  [[nodiscard]] std::vector<Contender> middle_of(PlainGroup& group, std::size_t head) const;

  // All but what each head is sure of, in the order in which they go.
  std::vector<Contender> contested(std::span<PlainGroup> layer);

  // How many more than they may hold the middles of these groups hold.
  std::size_t surplus(std::span<PlainGroup> layer);
};

}  // namespace kv::properties

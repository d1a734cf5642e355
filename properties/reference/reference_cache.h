// Executable specifications: what each policy should keep and show, on lists of positions alone.
//
// Written apart from policies/ and sim/, whose code they are held against: nothing is shared but
// the spec as a value. Each policy is a rule of a few lines over the list of its middle; timing and
// visibility are one short function. Slow, and meant to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/reference/page_rule.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

// The attention that query `query` pays: [visible], in stream order.
using MassOf =
    std::function<std::vector<float>(const std::vector<Position>& visible, Position query)>;

// What the token at a position brings.
using InputsOf = std::function<TokenInputs(Position)>;

// What a policy's rule is told when the middle is to lose someone.
struct Choice {
  std::vector<Position> middle;  // in stream order, newcomers last
  std::size_t capacity = 0;      // how many may stay; 1 <= capacity < middle.size()
  std::uint64_t entered = 0;     // tokens that ever came to the middle, these included
  std::size_t newcomers = 0;     // how many came to it since room was last made
};

// One policy's law.
class Rule {
 public:
  Rule() = default;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  // Whether all tokens that a trim releases are decided on at once; else one by one.
  [[nodiscard]] virtual bool in_bulk() const { return false; }

  [[nodiscard]] virtual bool wants_mass() const { return false; }

  // Whether it looks at what tokens bring: then it is told of each, before it is told what the
  // token saw.
  [[nodiscard]] virtual bool wants_inputs() const { return false; }

  virtual void met(Position /*token*/, const TokenInputs& /*own*/) {}

  // Told of every query, whose token is the last it sees.
  virtual void saw(const std::vector<Position>& /*visible*/,
                   const std::vector<float>& /*mass*/,
                   Draws& /*draws*/) {}

  // Who stays, in stream order.
  virtual std::vector<Position> stay(const Choice& choice, Draws& draws) = 0;

  // Where units share a budget: what each of the middle is worth. Asked at every decision in place
  // of stay, in bulk. Empty: its scores cannot be compared.
  virtual std::vector<double> scores(const Choice& /*choice*/) { return {}; }

  // Whether the row of that token, once it is evicted, stays stored for good.
  [[nodiscard]] virtual bool masks(Position /*token*/) const { return false; }

  // Then: that one of the middle is gone.
  virtual void lost(Position /*token*/) {}

  // Whether a decision so far hung on a difference that rounding may turn round.
  [[nodiscard]] virtual bool doubtful() const { return false; }

  [[nodiscard]] virtual std::unique_ptr<Rule> clone() const = 0;

 protected:
  Rule(const Rule&) = default;
};

// The rule of the policy that `spec` names, with its options; null if there is no specification of
// it here.
std::unique_ptr<Rule> rule_of(const Spec& spec);

// One unit's cache as the spec says it should go. Copies are independent but share their draws.
class ReferenceCache {
 public:
  // Requires rule_of(spec).
  ReferenceCache(const Spec& spec, std::shared_ptr<Draws> draws);
  ReferenceCache(const ReferenceCache& other);
  ReferenceCache(ReferenceCache&&) = default;
  ReferenceCache& operator=(ReferenceCache&&) = default;
  ReferenceCache& operator=(const ReferenceCache&) = delete;
  ~ReferenceCache() = default;

  // A copy that draws from elsewhere.
  [[nodiscard]] ReferenceCache with(std::shared_ptr<Draws> draws) const;

  // Takes a chunk in; returns what each of its queries sees. `mass_of` and `inputs_of` are called
  // for policies that want it only, `inputs_of` also where queries choose.
  std::vector<std::vector<Position>> feed(std::size_t tokens,
                                          const MassOf& mass_of,
                                          const InputsOf& inputs_of);

  // The same for models that share a layer's budget, or for one that does not: what is called for
  // whom, by model. Returns what each model's queries see.
  static std::vector<std::vector<std::vector<Position>>> feed_together(
      std::span<ReferenceCache> models,
      std::size_t tokens,
      std::span<const MassOf> mass_of,
      std::span<const InputsOf> inputs_of);

  // What is stored now, in stream order.
  [[nodiscard]] const std::vector<Position>& stored() const { return stored_; }

  // Those of them that a later query may see, in stream order.
  [[nodiscard]] const std::vector<Position>& residents() const { return residents_; }

  [[nodiscard]] bool doubtful() const { return doubtful_ || rule_->doubtful(); }

 private:
  static void leave(std::span<ReferenceCache> models, std::uint64_t end);
  static void settle_together(std::span<ReferenceCache> models);
  static std::uint64_t trimmable_in(std::span<const ReferenceCache> models);
  void take_in(std::size_t tokens);
  std::vector<Position> ask(std::uint64_t query, const MassOf& mass_of, const InputsOf& inputs_of);
  void leave_alone(std::uint64_t end);
  void settle(std::size_t newcomers);
  void free_rows();
  void drop_to(const std::vector<Position>& staying);

  Spec spec_;
  std::shared_ptr<Draws> draws_;
  std::unique_ptr<Rule> rule_;
  PageRule pages_;                   // where queries choose
  std::vector<Position> residents_;  // who may be seen
  std::vector<Position> stored_;     // residents, evicted rows that are not freed yet, and masked_
  std::vector<Position> masked_;     // evicted rows that are never freed
  std::vector<Position> middle_;     // of the residents
  std::uint64_t left_ = 0;           // positions below it have left the recent window
  std::uint64_t entered_ = 0;
  std::size_t newcomers_ = 0;  // of them by the last to leave
  std::uint64_t seen_ = 0;
  bool doubtful_ = false;  // a shared decision hung on rounding
};

}  // namespace kv::properties

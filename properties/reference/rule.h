// A policy as an executable specification: which of the middle to keep, on lists of positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/reference/cache_unit.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

// What a rule is given when the middle is over its capacity.
struct Choice {
  std::vector<Position> middle;    // in stream order, newcomers last
  std::size_t capacity = 0;        // how many may be kept; 1 <= capacity < middle.size()
  std::uint64_t entered = 0;       // tokens that ever came to the middle, these included
  std::size_t newcomers = 0;       // how many came to it since room was last made
  std::vector<StoredRow*> rows{};  // those of the middle, with the attention that they gathered
  std::vector<double>* notes = nullptr;  // of the unit
};

// What one query pays to the tokens that it sees, in stream order; the last is its own.
struct Attention {
  std::vector<Position> visible;
  std::vector<float> mass;
};

class Rule {
 public:
  Rule() = default;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  // Whether all tokens that a trim releases are decided on at once; else one by one.
  [[nodiscard]] virtual bool in_bulk() const { return false; }

  [[nodiscard]] virtual bool wants_mass() const { return false; }

  // Whether it reads what tokens bring: then take_inputs precedes observe for each token.
  [[nodiscard]] virtual bool wants_inputs() const { return false; }

  virtual void take_inputs(Position /*token*/, const TokenInputs& /*own*/) {}

  virtual void observe(const Attention& /*paid*/, Draws& /*draws*/) {}

  // Which of the middle to keep, in stream order.
  virtual std::vector<Position> keep(const Choice& choice, Draws& draws) = 0;

  // Where units share a budget: the scores of the middle. Asked at every decision in place of keep,
  // in bulk. Empty: its scores cannot be compared.
  virtual std::vector<double> scores(const Choice& /*choice*/) { return {}; }

  // Whether the row of that token, once it is evicted, remains stored for good.
  [[nodiscard]] virtual bool masks(Position /*token*/) const { return false; }

  // After a decision by scores: that token of the middle is evicted.
  virtual void forget(Position /*token*/) {}

  // Whether a decision so far hung on a difference that rounding may reverse.
  [[nodiscard]] virtual bool doubtful() const { return false; }

  [[nodiscard]] virtual std::unique_ptr<Rule> clone() const = 0;

 protected:
  Rule(const Rule&) = default;
};

// The rule of the policy that `spec` names, with its options; null if there is no specification of
// it here.
std::unique_ptr<Rule> rule_of(const Spec& spec);

}  // namespace kv::properties

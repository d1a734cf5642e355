// Exact laws of tiny cases: every outcome of every draw, with rational probabilities. No error rate
// at all: a subject either has the law or has not.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kvcheck/properties/sampling/family_sampler.h"

namespace kv::properties {

using Rational = boost::multiprecision::cpp_rational;

// A tape of draws. One run reads it from the start; next() moves on to the next outcomes, so that
// all runs together visit each outcome of each draw once.
//
// A draw stands for a number u on [0, 1) that its key (unit, position, index) fixes, as real draws
// do: asked again with the same bound it is the same, and with another bound it is floor(u * bound)
// of the same u, which the tape splits further. So reusing a draw is not mistaken for a new one.
class Tape {
 public:
  std::uint64_t below(std::uint32_t unit,
                      std::uint64_t bound,
                      Position position,
                      std::uint32_t index);

  // Draws of a unit, which read this tape; it must outlive them. uniform() cannot be enumerated.
  [[nodiscard]] DrawsOf draws();

  // Starts the first run or, after one, the next; false when there is none.
  bool next();

  // Of the run just made.
  [[nodiscard]] Rational probability() const;

  // Why this tape cannot be enumerated: a draw was real, or had too many outcomes. Empty: it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  // Whether this lies in what was drawn, so that trying again would be in vain.
  [[nodiscard]] bool refused_by_draws() const { return by_draws_; }

  void refuse(const std::string& why, bool by_draws = false);

 private:
  struct Outcome {
    std::uint64_t value = 0;
    Rational share;  // of the outcomes left
    Rational low;    // u is in [low, high)
    Rational high;
  };

  struct Draw {
    std::vector<Outcome> outcomes;
    std::size_t at = 0;
  };

  using Key = std::tuple<std::uint32_t, Position, std::uint32_t>;

  [[nodiscard]] std::vector<Outcome> outcomes_of(const Key& key, std::uint64_t bound) const;

  std::vector<Draw> draws_;  // of this run, in order
  std::size_t read_ = 0;
  bool begun_ = false;
  std::map<Key, std::pair<Rational, Rational>> known_;  // what this run has fixed of each u
  std::map<std::pair<Key, std::uint64_t>, std::uint64_t> values_;
  std::string refusal_;
  bool by_draws_ = false;
};

// The law of the kept set, by subset_index.
struct ExactLaw {
  std::vector<Rational> subsets;
  std::uint64_t runs = 0;
  std::string refusal;    // why it could not be found; empty: it could
  bool by_draws = false;  // the reason is what was drawn, and no fault
};

// Enumerates the first unit of a sampler. Stops with a refusal after `most_runs`.
ExactLaw enumerate(FamilySampler& sampler, std::uint64_t most_runs);

// Enumerates any function of draws that gives the kept tokens of a stream.
using RunOnTape = std::function<std::vector<std::uint32_t>(Draws& draws)>;
ExactLaw enumerate(const Shape& shape, const RunOnTape& run, std::uint64_t most_runs);

// What a law of chance says of the kept set.
std::vector<Rational> exact_subsets(ChanceLaw law, const Shape& shape);

// How far one is from the other.
Rational apart(const Rational& a, const Rational& b);

// Half the sum of differences: 0 for equal laws, 1 for laws that share no outcome.
Rational total_variation(const std::vector<Rational>& a, const std::vector<Rational>& b);

// [n], the inclusion of each token.
std::vector<Rational> exact_inclusions(const std::vector<Rational>& subsets, const Shape& shape);

// "2/7"
std::string fraction_text(const Rational& value);

}  // namespace kv::properties

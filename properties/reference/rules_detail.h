// What the rules share. Private to properties/reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "kvcheck/properties/reference/rule.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

// Those of policies that decide by attention but for h2o and tova; those of policies that look at
// what tokens bring, with or without attention; and those of queues and of policies that draw with
// weights. Null for all other policies.
std::unique_ptr<Rule> attention_rule_of(const Spec& spec);
std::unique_ptr<Rule> content_rule_of(const Spec& spec);
std::unique_ptr<Rule> weighted_rule_of(const Spec& spec);

// Of the second kind, those of policies that compare keys with keys, and those of policies that
// look at queries after rotation.
std::unique_ptr<Rule> keys_rule_of(const Spec& spec);
std::unique_ptr<Rule> rotated_rule_of(const Spec& spec);

// Two ways to add the same numbers differ by less than this share of the sum.
inline constexpr double rounding = 1e-5;

// Vectors in double precision.
namespace vectors {

using Vector = std::vector<double>;

// The vectors of one kind, one per head.
inline std::vector<Vector> heads_of(const std::vector<float>& numbers) {
  std::vector<Vector> heads;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % input_dim == 0) heads.emplace_back();
    heads.back().push_back(static_cast<double>(numbers[i]));
  }
  return heads;
}

inline double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline double length(const Vector& a) {
  return std::sqrt(dot(a, a));
}

inline double cosine(const Vector& a, const Vector& b) {
  const double lengths = length(a) * length(b);
  return lengths > 0 ? dot(a, b) / lengths : 0;
}

}  // namespace vectors

template <typename Own, typename Base = Rule>
class RuleOf : public Base {
 public:
  using Base::Base;

  [[nodiscard]] std::unique_ptr<Rule> clone() const override {
    return std::make_unique<Own>(static_cast<const Own&>(*this));
  }
};

// Of n scores the `kept` highest, or all, as indices in order; among equals the older are left out.
// `doubtful` is set where rounding might reverse the choice; between equals too if they are only
// equal by rounding.
inline std::vector<std::size_t> highest_of(const std::vector<double>& scores,
                                           std::size_t kept,
                                           bool& doubtful,
                                           bool ties_are_doubtful = false) {
  std::vector<std::pair<double, std::size_t>> scored;
  for (std::size_t i = 0; i < scores.size(); ++i) scored.emplace_back(scores[i], i);
  std::ranges::sort(scored);
  const std::size_t gone = scored.size() - std::min(kept, scored.size());
  if (gone > 0 && kept > 0) {
    const double margin = scored[gone].first - scored[gone - 1].first;
    doubtful |= margin > 0 && margin < rounding * std::abs(scored[gone].first);
    doubtful |= margin == 0 && ties_are_doubtful;
  }
  std::vector<std::size_t> stay;
  for (std::size_t i = gone; i < scored.size(); ++i) stay.push_back(scored[i].second);
  std::ranges::sort(stay);
  return stay;
}

// The tokens of these of the middle's blocks of `size`.
inline std::vector<Position> tokens_of_blocks(const std::vector<Position>& middle,
                                              std::size_t size,
                                              const std::vector<std::size_t>& blocks) {
  std::vector<Position> tokens;
  for (const std::size_t block : blocks) {
    for (std::size_t i = 0; i < size; ++i) tokens.push_back(middle[block * size + i]);
  }
  return tokens;
}

// Scored policies: the lowest are evicted; among equals the older.
class Scored : public Rule {
 public:
  [[nodiscard]] bool in_bulk() const override { return true; }

  std::vector<Position> keep(const Choice& choice, Draws&) override {
    std::vector<Position> kept;
    for (const std::size_t i :
         highest_of(scores_of(choice), left_of(choice.capacity), doubtful_, ties_are_doubtful_)) {
      kept.push_back(choice.middle[i]);
    }
    return kept;
  }

  std::vector<double> scores(const Choice& choice) override { return scores_of(choice); }

  [[nodiscard]] bool doubtful() const override { return doubtful_; }

 protected:
  [[nodiscard]] virtual double score(Position /*token*/) const { return 0; }

  virtual std::vector<double> scores_of(const Choice& choice) {
    std::vector<double> scores;
    for (const Position p : choice.middle) scores.push_back(score(p));
    return scores;
  }

  // How many of the middle stay.
  [[nodiscard]] virtual std::size_t left_of(std::size_t capacity) const { return capacity; }

  bool doubtful_ = false;
  bool ties_are_doubtful_ = false;
};

// Those that decide by attention.
class ScoredByMass : public Scored {
 public:
  [[nodiscard]] bool wants_mass() const override { return true; }
};

// What the last `window` queries paid, by token.
class RecentMass {
 public:
  explicit RecentMass(std::size_t window) : window_(window) {}

  void observe(const Attention& paid) {
    std::map<Position, double>& row = rows_.emplace_back();
    for (std::size_t i = 0; i < paid.visible.size(); ++i)
      row[paid.visible[i]] = static_cast<double>(paid.mass[i]);
    if (rows_.size() > window_) rows_.erase(rows_.begin());
  }

  [[nodiscard]] double sum(Position p) const {
    double sum = 0;
    for (const auto& row : rows_) sum += row.contains(p) ? row.at(p) : 0;
    return sum;
  }

  // The mean of the shares that queries paid it of what they paid to all of these tokens.
  [[nodiscard]] double mean_share(Position p, const std::vector<Position>& tokens) const {
    double sum = 0;
    for (const auto& row : rows_) {
      double all = 0;
      for (const Position token : tokens) all += row.contains(token) ? row.at(token) : 0;
      if (all > 0 && row.contains(p)) sum += row.at(p) / all;
    }
    return sum / static_cast<double>(rows_.size());
  }

  [[nodiscard]] double mean(Position p) const { return sum(p) / static_cast<double>(rows_.size()); }

 private:
  std::size_t window_;
  std::vector<std::map<Position, double>> rows_;
};

// Those that, with select=once, choose at the first trim only: later tokens are evicted first.
class SelectsOnce : public ScoredByMass {
 public:
  explicit SelectsOnce(const Options& options) : once_(options.at("select") == "once") {}

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    if (!has_selected()) return ScoredByMass::keep(choice, draws);
    const auto first = choice.middle.begin();
    return {first, first + static_cast<std::ptrdiff_t>(choice.capacity)};
  }

  std::vector<double> scores(const Choice& choice) override {
    if (!has_selected()) return ScoredByMass::scores(choice);
    std::vector<double> scores(choice.middle.size(), 1.0);
    for (std::size_t i = 1; i <= choice.newcomers; ++i) scores[scores.size() - i] = 0;
    return scores;
  }

 private:
  // From the second question on.
  bool has_selected() { return once_ && std::exchange(selected_, true); }

  bool once_;
  bool selected_ = false;
};

// Remembers the inputs of every token, and which are still resident.
class ScoredByContent : public Scored {
 public:
  [[nodiscard]] bool wants_inputs() const override { return true; }

  void take_inputs(Position token, const TokenInputs& own) override {
    keys_[token] = vectors::heads_of(own.keys);
    values_[token] = vectors::heads_of(own.values);
    queries_.push_back(vectors::heads_of(own.queries));
    classes_[token] = own.token_class;
  }

  void forget(Position token) override { keys_.erase(token); }

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> kept = selected(choice, draws);
    for (const Position p : choice.middle) {
      if (!std::ranges::binary_search(kept, p)) keys_.erase(p);
    }
    return kept;
  }

 protected:
  virtual std::vector<Position> selected(const Choice& choice, Draws& draws) {
    return Scored::keep(choice, draws);
  }

  std::map<Position, std::vector<vectors::Vector>>
      keys_;  // of residents, sinks and recents among them
  std::map<Position, std::vector<vectors::Vector>> values_;
  std::vector<std::vector<vectors::Vector>> queries_;
  std::map<Position, TokenClass> classes_;
};

}  // namespace kv::properties

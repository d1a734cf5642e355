#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

// dense, window, streaming: there is no middle, so no token is ever selected.
class NoChoice final : public RuleOf<NoChoice> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws&) override { return choice.middle; }
};

// random: the newcomer enters, one of the k older tokens is evicted, each as likely.
class RandomRule final : public RuleOf<RandomRule> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const std::uint64_t victim = draws.below(choice.capacity, middle.back(), 0);
    middle.erase(middle.begin() + static_cast<std::ptrdiff_t>(victim));
    return middle;
  }
};

// reservoir, algorithm r: the newcomer enters with k/M and replaces one of the k, each as likely.
class ReservoirR final : public RuleOf<ReservoirR> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const Position newcomer = middle.back();
    std::uint64_t victim = choice.capacity;
    if (draws.below(choice.entered, newcomer, 0) < choice.capacity) {
      victim = draws.below(choice.capacity, newcomer, 1);
    }
    middle.erase(middle.begin() + static_cast<std::ptrdiff_t>(victim));
    return middle;
  }
};

// reservoir, algorithm l: W is the k-th smallest of M keys; the next key below W comes after a
// geometric number of tokens, and its token replaces one of the k, each as likely. The unit's notes
// hold ln W and the count at which the next token enters.
class ReservoirL final : public RuleOf<ReservoirL> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const Position newcomer = middle.back();
    const auto entered = static_cast<double>(choice.entered);
    if (choice.notes->empty()) {
      *choice.notes = {0, 0};
      advance(static_cast<double>(choice.capacity), choice, draws, 0);
    }
    std::uint64_t victim = choice.capacity;
    if (entered >= choice.notes->at(1)) {
      victim = draws.below(choice.capacity, newcomer, 4);
      advance(entered, choice, draws, 2);
    }
    middle.erase(middle.begin() + static_cast<std::ptrdiff_t>(victim));
    return middle;
  }

 private:
  static void advance(double entered, const Choice& choice, Draws& draws, std::uint32_t index) {
    const Position newcomer = choice.middle.back();
    double& log_w = choice.notes->at(0);
    log_w += std::log(draws.uniform(newcomer, index)) / static_cast<double>(choice.capacity);
    const double refused =
        std::log(draws.uniform(newcomer, index + 1)) / std::log1p(-std::exp(log_w));
    choice.notes->at(1) = entered + std::floor(refused) + 1;
  }
};

// reservoir, algorithm bottom-k: each token has a key by chance, the k smallest stay; of equal
// keys, the older.
class BottomK final : public RuleOf<BottomK> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<std::pair<std::uint64_t, Position>> keyed;
    for (const Position p : choice.middle) {
      if (!keys_.contains(p)) keys_[p] = draws.below(std::uint64_t{1} << 63U, p, 0);
      keyed.emplace_back(keys_[p], p);
    }
    std::ranges::sort(keyed);
    std::vector<Position> kept;
    for (std::size_t i = 0; i < choice.capacity; ++i) kept.push_back(keyed[i].second);
    std::ranges::sort(kept);
    return kept;
  }

 private:
  std::map<Position, std::uint64_t> keys_;
};

// reservoir-as-printed: every trim samples the middle anew, as if it were the whole stream.
class AsPrinted final : public RuleOf<AsPrinted> {
 public:
  [[nodiscard]] bool in_bulk() const override { return true; }

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    const auto& middle = choice.middle;
    std::vector<Position> sample(middle.begin(),
                                 middle.begin() + static_cast<std::ptrdiff_t>(choice.capacity));
    for (std::size_t i = choice.capacity; i < middle.size(); ++i) {
      const std::uint64_t j = draws.below(i + 1, middle[i], 0);
      if (j < choice.capacity) sample[j] = middle[i];
    }
    std::ranges::sort(sample);
    return sample;
  }
};

// h2o: the mass that a token has gathered; per query that saw it with normalise=age. With
// form=flexgen a token that leaves the recent window alone is kept, and the lowest other evicted.
class H2oRule final : public RuleOf<H2oRule, ScoredByMass> {
 public:
  H2oRule(bool by_age, const std::string& form)
      : by_age_(by_age), admits_(form == "flexgen"), masks_(form == "mask-simulation") {}

  [[nodiscard]] bool masks(Position /*token*/) const override { return masks_; }

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    if (!admits_ || choice.newcomers != 1) return ScoredByMass::keep(choice, draws);
    std::vector<Position> kept;
    Choice older = choice;
    older.middle.pop_back();
    older.rows.pop_back();
    --older.capacity;
    if (older.capacity > 0) kept = ScoredByMass::keep(older, draws);
    kept.push_back(choice.middle.back());
    return kept;
  }

 protected:
  std::vector<double> scores_of(const Choice& choice) override {
    std::vector<double> scores;
    for (const StoredRow* const row : choice.rows) {
      scores.push_back(by_age_ ? row->gathered / row->queries : row->gathered);
    }
    return scores;
  }

 private:
  bool by_age_;
  bool admits_;
  bool masks_;
};

// tova and kvzip: the mass that the last query paid.
class TovaRule final : public RuleOf<TovaRule, ScoredByMass> {
 protected:
  std::vector<double> scores_of(const Choice& choice) override {
    std::vector<double> scores;
    for (const StoredRow* const row : choice.rows) {
      scores.push_back(static_cast<double>(row->last));
    }
    return scores;
  }
};

}  // namespace

std::unique_ptr<Rule> rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  if (name == "random") return std::make_unique<RandomRule>();
  if (name == "reservoir-as-printed") return std::make_unique<AsPrinted>();
  if (name == "h2o") {
    return std::make_unique<H2oRule>(spec.options.at("normalise") == "age",
                                     spec.options.at("form"));
  }
  if (name == "tova" || name == "kvzip") return std::make_unique<TovaRule>();
  if (name == "reservoir") {
    const std::string& algorithm = spec.options.at("algorithm");
    if (algorithm == "l") return std::make_unique<ReservoirL>();
    if (algorithm == "bottom-k") return std::make_unique<BottomK>();
    return std::make_unique<ReservoirR>();
  }
  if (spec.policy->protection.middle != Protection::Middle::some) {
    return std::make_unique<NoChoice>();
  }
  for (const auto family : {attention_rule_of, content_rule_of, weighted_rule_of}) {
    if (auto rule = family(spec)) return rule;
  }
  return nullptr;
}

}  // namespace kv::properties

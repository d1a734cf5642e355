#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

// dense, window, streaming: there is no middle, so nobody is ever asked.
class NoChoice final : public RuleOf<NoChoice> {
 public:
  std::vector<Position> stay(const Choice& choice, Draws&) override { return choice.middle; }
};

// random: the newcomer enters, one of the k older ones goes, each as likely.
class RandomRule final : public RuleOf<RandomRule> {
 public:
  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const std::uint64_t victim = draws.below(choice.capacity, middle.back(), 0);
    middle.erase(middle.begin() + static_cast<std::ptrdiff_t>(victim));
    return middle;
  }
};

// reservoir, algorithm r: the newcomer enters with k/M and replaces one of the k, each as likely.
class ReservoirR final : public RuleOf<ReservoirR> {
 public:
  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
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
// geometric number of tokens, and its token replaces one of the k, each as likely.
class ReservoirL final : public RuleOf<ReservoirL> {
 public:
  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const Position newcomer = middle.back();
    if (next_ == 0) advance(static_cast<double>(choice.capacity), choice, draws, 0);
    std::uint64_t victim = choice.capacity;
    if (static_cast<double>(choice.entered) >= next_) {
      victim = draws.below(choice.capacity, newcomer, 4);
      advance(static_cast<double>(choice.entered), choice, draws, 2);
    }
    middle.erase(middle.begin() + static_cast<std::ptrdiff_t>(victim));
    return middle;
  }

 private:
  void advance(double entered, const Choice& choice, Draws& draws, std::uint32_t index) {
    const Position newcomer = choice.middle.back();
    log_w_ += std::log(draws.uniform(newcomer, index)) / static_cast<double>(choice.capacity);
    const double refused =
        std::log(draws.uniform(newcomer, index + 1)) / std::log1p(-std::exp(log_w_));
    next_ = entered + std::floor(refused) + 1;
  }

  double log_w_ = 0;
  double next_ = 0;
};

// reservoir, algorithm bottom-k: each token has a key by chance, the k smallest stay; of equal
// keys, the older.
class BottomK final : public RuleOf<BottomK> {
 public:
  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
    std::vector<std::pair<std::uint64_t, Position>> keyed;
    for (const Position p : choice.middle) {
      if (!keys_.contains(p)) keys_[p] = draws.below(std::uint64_t{1} << 63U, p, 0);
      keyed.emplace_back(keys_[p], p);
    }
    std::ranges::sort(keyed);
    std::vector<Position> staying;
    for (std::size_t i = 0; i < choice.capacity; ++i) staying.push_back(keyed[i].second);
    std::ranges::sort(staying);
    return staying;
  }

 private:
  std::map<Position, std::uint64_t> keys_;
};

// reservoir-as-printed: every trim samples the middle anew, as if it were the whole stream.
class AsPrinted final : public RuleOf<AsPrinted> {
 public:
  [[nodiscard]] bool in_bulk() const override { return true; }

  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
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
// form=flexgen a token that leaves the recent window alone stays, and the lowest other goes.
class H2oRule final : public RuleOf<H2oRule, ScoredByMass> {
 public:
  H2oRule(bool by_age, const std::string& form)
      : by_age_(by_age), admits_(form == "flexgen"), masks_(form == "mask-simulation") {}

  [[nodiscard]] bool masks(Position /*token*/) const override { return masks_; }

  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
    if (!admits_ || choice.newcomers != 1) return ScoredByMass::stay(choice, draws);
    std::vector<Position> staying;
    Choice older = choice;
    older.middle.pop_back();
    --older.capacity;
    if (older.capacity > 0) staying = ScoredByMass::stay(older, draws);
    staying.push_back(choice.middle.back());
    return staying;
  }

  void saw(const std::vector<Position>& visible, const std::vector<float>& mass, Draws&) override {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      gathered_[visible[i]] += static_cast<double>(mass[i]);
      queries_[visible[i]] += 1;
    }
  }

 protected:
  [[nodiscard]] double score(Position p) const override {
    return by_age_ ? gathered_.at(p) / queries_.at(p) : gathered_.at(p);
  }

 private:
  bool by_age_;
  bool admits_;
  bool masks_;
  std::map<Position, double> gathered_;
  std::map<Position, double> queries_;
};

// tova: the mass that the last query paid.
class TovaRule final : public RuleOf<TovaRule, ScoredByMass> {
 public:
  void saw(const std::vector<Position>& visible, const std::vector<float>& mass, Draws&) override {
    paid_.clear();
    for (std::size_t i = 0; i < visible.size(); ++i) {
      paid_[visible[i]] = static_cast<double>(mass[i]);
    }
  }

 protected:
  [[nodiscard]] double score(Position p) const override { return paid_.at(p); }

 private:
  std::map<Position, double> paid_;
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
  if (name == "tova") return std::make_unique<TovaRule>();
  if (name == "reservoir") {
    const std::string& algorithm = spec.options.at("algorithm");
    if (algorithm == "l") return std::make_unique<ReservoirL>();
    if (algorithm == "bottom-k") return std::make_unique<BottomK>();
    return std::make_unique<ReservoirR>();
  }
  if (spec.policy->protection.middle != Protection::Middle::some) {
    return std::make_unique<NoChoice>();
  }
  for (const auto family : {attention_rule_of, content_rule_of, weighted_rule_of, mixed_rule_of}) {
    if (auto rule = family(spec)) return rule;
  }
  return nullptr;
}

}  // namespace kv::properties

// Executable specifications of policies that decide by attention.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

// Whether a query paid a token its mean share, and whether rounding may reverse that.
bool fair(float mass, std::size_t visible, bool& doubtful) {
  const double shares = static_cast<double>(mass) * static_cast<double>(visible);
  doubtful |= std::abs(shares - 0.9999) < rounding;
  return shares >= 0.9999;
}

// lru: when a query last paid a token the mean; its own does.
class LruRule final : public RuleOf<LruRule, ScoredByMass> {
 public:
  void observe(const Attention& paid, Draws&) override {
    for (std::size_t i = 0; i < paid.visible.size(); ++i) {
      if (fair(paid.mass[i], paid.visible.size(), doubtful_))
        used_[paid.visible[i]] = paid.visible.back();
    }
    used_[paid.visible.back()] = paid.visible.back();
  }

 protected:
  [[nodiscard]] double score(Position p) const override { return used_.at(p); }

 private:
  std::map<Position, Position> used_;
};

// a2sf: the sum of what all queries paid, each counting `factor` times as much as the next.
class A2sfRule final : public RuleOf<A2sfRule, ScoredByMass> {
 public:
  explicit A2sfRule(double factor) : factor_(factor) {}

  void observe(const Attention& paid, Draws&) override {
    std::map<Position, double>& row = rows_.emplace_back();
    for (std::size_t i = 0; i < paid.visible.size(); ++i)
      row[paid.visible[i]] = static_cast<double>(paid.mass[i]);
  }

 protected:
  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    for (std::size_t age = 0; age < rows_.size(); ++age) {
      const auto& row = rows_[rows_.size() - 1 - age];
      if (row.contains(p)) sum += std::pow(factor_, static_cast<double>(age)) * row.at(p);
    }
    return sum;
  }

 private:
  double factor_;
  std::vector<std::map<Position, double>> rows_;
};

// scissorhands: how many of the last `history` queries paid a token less than the mean.
class ScissorhandsRule final : public RuleOf<ScissorhandsRule, ScoredByMass> {
 public:
  ScissorhandsRule(std::size_t history, std::size_t drop) : history_(history), drop_(drop) {}

  void observe(const Attention& paid, Draws&) override {
    std::set<Position>& low = low_.emplace_back();
    for (std::size_t i = 0; i < paid.visible.size(); ++i) {
      if (!fair(paid.mass[i], paid.visible.size(), doubtful_)) low.insert(paid.visible[i]);
    }
    if (low_.size() > history_) low_.erase(low_.begin());
  }

 protected:
  [[nodiscard]] double score(Position p) const override {
    double times = 0;
    for (const auto& low : low_) times += low.contains(p) ? 1 : 0;
    return -times;
  }

  [[nodiscard]] std::size_t left_of(std::size_t capacity) const override {
    return capacity - capacity * drop_ / 100;
  }

 private:
  std::size_t history_;
  std::size_t drop_;
  std::vector<std::set<Position>> low_;  // of the last queries
};

// keyformer: sums of softmax((logit + noise) / tau); or what the first trim chose.
class KeyformerRule final : public RuleOf<KeyformerRule, SelectsOnce> {
 public:
  explicit KeyformerRule(const Options& options)
      : RuleOf(options),
        noise_(options.at("noise") == "gumbel"),
        step_(options.real("step")),
        end_(options.real("end")),
        prompt_(options.count("prompt")) {}

  void observe(const Attention& paid, Draws& draws) override {
    double tau = 1;
    if (paid.visible.back() >= prompt_) {
      tau += step_ * (static_cast<double>(paid.visible.back()) + 1 - static_cast<double>(prompt_));
    }
    if (tau > end_) tau = end_;
    std::vector<double> noisy;
    double sum = 0;
    for (std::size_t i = 0; i < paid.visible.size(); ++i) {
      // Gumbel noise is -ln(-ln u), so that e^noise is -1 / ln u.
      const double u =
          noise_ ? draws.uniform(paid.visible.back(), paid.visible[i]) : std::exp(-1.0);
      noisy.push_back(std::pow(static_cast<double>(paid.mass[i]) / -std::log(u), 1 / tau));
      sum += noisy.back();
    }
    for (std::size_t i = 0; i < paid.visible.size(); ++i)
      gathered_[paid.visible[i]] += noisy[i] / sum;
  }

 protected:
  [[nodiscard]] double score(Position p) const override { return gathered_.at(p); }

 private:
  bool noise_;
  double step_;
  double end_;
  std::size_t prompt_;
  std::map<Position, double> gathered_;
};

// snapkv: what the last `window` queries paid, pooled over neighbours in the middle.
class SnapkvRule final : public RuleOf<SnapkvRule, SelectsOnce> {
 public:
  explicit SnapkvRule(const Options& options)
      : RuleOf(options),
        reach_(options.count("kernel") / 2),
        largest_(options.at("pooling") == "max"),
        recent_(options.count("window")) {}

  void observe(const Attention& paid, Draws&) override { recent_.observe(paid); }

 protected:
  // The votes for each and its neighbours.
  std::vector<double> scores_of(const Choice& choice) override {
    std::vector<double> votes;
    for (const Position p : choice.middle) votes.push_back(recent_.sum(p));
    std::vector<double> pooled(votes.size());
    for (std::size_t i = 0; i < votes.size(); ++i) {
      for (std::size_t j = 0; j < votes.size(); ++j) {
        if (j + reach_ < i || j > i + reach_) continue;
        pooled[i] = largest_ ? std::max(pooled[i], votes[j]) : pooled[i] + votes[j];
      }
    }
    return pooled;
  }

 private:
  std::size_t reach_;
  bool largest_;
  RecentMass recent_;
};

// chunkkv: whole chunks, those the last `window` queries paid most; what makes no chunk is kept.
class ChunkkvRule final : public RuleOf<ChunkkvRule, ScoredByMass> {
 public:
  ChunkkvRule(std::size_t length, std::size_t window) : length_(length), recent_(window) {}

  void observe(const Attention& paid, Draws&) override { recent_.observe(paid); }

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    const std::size_t rest = choice.middle.size() % length_;
    Choice ragged{
        .middle = {choice.middle.end() - static_cast<std::ptrdiff_t>(rest), choice.middle.end()},
        .capacity = std::min(rest, choice.capacity)};
    std::vector<double> paid((choice.middle.size() - rest) / length_);
    for (std::size_t i = 0; i + rest < choice.middle.size(); ++i) {
      paid[i / length_] += score(choice.middle[i]);
    }
    const std::size_t fitting = (choice.capacity - ragged.capacity) / length_;
    std::vector<Position> kept =
        tokens_of_blocks(choice.middle, length_, highest_of(paid, fitting, doubtful_));
    const std::vector<Position> last = ScoredByMass::keep(ragged, draws);
    kept.insert(kept.end(), last.begin(), last.end());
    return kept;
  }

 protected:
  [[nodiscard]] double score(Position p) const override { return recent_.sum(p); }

 private:
  std::size_t length_;
  RecentMass recent_;
};

// criticalkv: a share by the pooled votes of the last queries, the rest by votes times value.
class CriticalkvRule final : public RuleOf<CriticalkvRule, ScoredByContent> {
 public:
  explicit CriticalkvRule(const Options& options)
      : reach_(options.count("kernel") / 2),
        first_(options.real("first")),
        recent_(options.count("window")) {}

  [[nodiscard]] bool wants_mass() const override { return true; }

  void observe(const Attention& paid, Draws&) override { recent_.observe(paid); }

  // The second stage depends on the capacity.
  std::vector<double> scores(const Choice&) override { return {}; }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws&) override {
    const auto& middle = choice.middle;
    std::vector<double> votes(middle.size());
    for (std::size_t i = 0; i < middle.size(); ++i) {
      for (std::size_t j = i - std::min(i, reach_); j <= i + reach_ && j < middle.size(); ++j) {
        votes[i] = std::max(votes[i], recent_.mean(middle[j]));
      }
    }
    const double share = first_ * static_cast<double>(choice.capacity);
    std::vector<double> second(middle.size());
    for (std::size_t i = 0; i < middle.size(); ++i) second[i] = (votes[i] + 1e-4) * size(middle[i]);
    for (const std::size_t i :
         highest_of(votes, static_cast<std::size_t>(std::floor(share)), doubtful_)) {
      second[i] = 1e9;
    }
    std::vector<Position> kept;
    for (const std::size_t i : highest_of(second, choice.capacity, doubtful_)) {
      kept.push_back(middle[i]);
    }
    return kept;
  }

 private:
  [[nodiscard]] double size(Position p) const {
    double sum = 0;
    for (const vectors::Vector& value : values_.at(p)) {
      for (const double number : value) sum += std::abs(number);
    }
    return sum / static_cast<double>(values_.at(p).size());
  }

  std::size_t reach_;
  double first_;
  RecentMass recent_;
};

}  // namespace

std::unique_ptr<Rule> attention_rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  const Options& options = spec.options;
  if (name == "a2sf") return std::make_unique<A2sfRule>(options.real("factor"));
  if (name == "criticalkv") return std::make_unique<CriticalkvRule>(options);
  if (name == "lru") return std::make_unique<LruRule>();
  if (name == "snapkv") return std::make_unique<SnapkvRule>(options);
  if (name == "chunkkv") {
    return std::make_unique<ChunkkvRule>(options.count("length"), options.count("window"));
  }
  if (name == "scissorhands") {
    return std::make_unique<ScissorhandsRule>(options.count("history"), options.count("drop"));
  }
  if (name == "keyformer") return std::make_unique<KeyformerRule>(options);
  return nullptr;
}

}  // namespace kv::properties
